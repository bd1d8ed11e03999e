"""Table of keys in Tensile kernel names about the division of work: tiles, waves, and splitting of the sum."""

from expctl.gpu.tensile.parameter import Parameter, param, switch

AUTO = "chosen by the generator or at launch"
MULTIPLY_ADD = param(
    "MACInstruction", "vector instruction that multiplies and adds", {"MAD": "v_mad", "MAC": "v_mac", "FMA": "v_fma"}
)

TILE_KEYS: dict[str, Parameter] = {
    "TT": param(
        "ThreadTile", "elements of C per thread; with matrix instructions: tiles of a wave in M, and columns of a wave in N"
    ),
    "MIWT": param("MIWaveTile", "matrix-instruction tiles that one wave computes, in M and in N"),
    "WG": param("WorkGroup", "threads in M, in N, and parts of the sum within the workgroup; the product is the workgroup"),
    "WS": param("WavefrontSize", "lanes of a wave"),
    "DU": param("DepthU", "steps of the sum per iteration of the main loop"),
    "LU": param("LoopUnroll", "steps of the sum per iteration of the main loop, before it is split"),
    "DULD": param("DepthULdsDivisor", "parts in which a loop iteration's data go through LDS"),
    "MI": param("MatrixInstruction", "M, N, K and blocks of the matrix instruction"),
    **dict.fromkeys(("MAC", "MACI"), MULTIPLY_ADD),
    "MIAV": switch(
        "MIArchVgpr", "matrix instructions accumulate in ordinary vector registers instead of accumulation registers"
    ),
    "SS": switch("SourceSwap", "A and B change places in the matrix instruction, so that results lie ready for wide stores"),
    "IU": param("InnerUnroll", "steps of the sum that are read from LDS together"),
    "VW": param("VectorWidth", "neighbouring elements of C that a thread works on"),
    "VWA": param("VectorWidthA", "neighbouring elements of A that a thread works on"),
    "VWB": param("VectorWidthB", "neighbouring elements of B that a thread works on"),
    "GSU": param(
        "GlobalSplitU",
        "workgroups that share the sum of one tile",
        {"0": "built without splitting", "1": "not split", "n1": AUTO, "M": "more than one; the number is given at launch"},
    ),
    "GSUA": param(
        "GlobalSplitUAlgorithm",
        "how the parts of a split sum meet",
        {
            "SB": "SingleBuffer: atomic adds into one buffer",
            "MB": "MultipleBuffer: a buffer each, added up by another kernel",
            "MBSK": "MultipleBufferSingleKernel: a buffer each, added up by this kernel",
        },
    ),
    "GSUAA": switch("GlobalSplitUAtomicAdd", "parts of a split sum are added with an atomic add instruction"),
    "GSUC": switch("GlobalSplitUCoalesced", "workgroups of one part of the sum follow each other"),
    "GSUWGMRR": switch("GlobalSplitUWorkGroupMappingRoundRobin", "workgroups of one part of the sum are issued together"),
    "GSUSARR": switch("GlobalSplitUSummationAssignmentRoundRobin", "parts of a split sum take turns step by step"),
    "MKFGSU": param("MinKForGSU", "least length of the sum for which splitting it is considered"),
    "WSK": switch("WaveSplitK", "threads of one wave share the sum, instead of waves of the workgroup"),
    "WGR": switch("WorkGroupReduction", "a reduction across the workgroup, for the gradient of the bias"),
    "WGM": param(
        "WorkGroupMapping",
        "height in tiles of the column that successive workgroups fill, for reuse in L2",
        {"0": "as the hardware assigns them", "1": "as the hardware assigns them"},
    ),
    "WGMT": param("WorkGroupMappingType", "shape in which workgroups walk over C", {"B": "blocks", "Z": "a Z curve"}),
    "WGMXCC": param(
        "WorkGroupMappingXCC", "dies over which neighbouring workgroups are kept together", {"1": "not remapped", "n1": AUTO}
    ),
    "WGMXCCG": param("WorkGroupMappingXCCGroup", "workgroups that are remapped over the dies as one group", {"n1": AUTO}),
    "SFCWGM": param("SFCWGM", "grid of each level of the space-filling order of workgroups"),
    "SFA": param("SpaceFillingAlgo", "order of workgroups at each level of a space-filling walk over C"),
    "CD": param("ClusterDim", "workgroups of a cluster that share loaded data, in M and in N", {"1_1": "no cluster"}),
    "CB": switch("ClusterBarrier", "workgroups of a cluster wait for each other"),
    "SK": param(
        "StreamK",
        "work divided evenly over compute units, across tiles and the sum",
        {
            "0": "off: a workgroup per tile",
            "1": "on",
            "2": "the even parts first, then whole tiles",
            "3": "whole tiles first, then the even parts",
        },
    ),
    "SKA": param(
        "StreamKAtomic",
        "how partial tiles of StreamK meet",
        {"0": "in a workspace, always in the same order", "1": "atomic adds"},
    ),
    "SKFTR": param(
        "StreamKFixupTreeReduction", "how partial tiles of StreamK are added up", {"0": "one after the other", "1": "as a tree"}
    ),
    "SKFDPO": switch("StreamKForceDPOnly", "StreamK with whole tiles only"),
    "SKXCCM": param(
        "StreamKXCCMapping", "dies over which StreamK keeps neighbours together", {"0": "as the hardware assigns them"}
    ),
    "DSK": param("DebugStreamK", "parts of StreamK left out for debugging", {"0": "none"}),
    "PK": param("PersistentKernel", "workgroups per compute unit that stay and take tile after tile", {"0": "off", "n1": AUTO}),
    "PKAB": switch("PersistentKernelAlongBatch", "staying workgroups also walk through the batch"),
    "PAP": switch("PrefetchAcrossPersistent", "the next tile's first loads start before this tile is stored"),
    "PAPM": param("PrefetchAcrossPersistentMode", "where the next tile's early loads are placed"),
    "MO": param("MaxOccupancy", "workgroups per compute unit at most; more LDS is taken to hold it"),
    "MLDS": param("MaxLDS", "bytes of LDS that the kernel may take"),
    "TVN": param("TotalVgprNumber", "vector registers in all"),
}
