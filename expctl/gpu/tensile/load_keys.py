"""Table of keys in Tensile kernel names about loading A and B: from global memory, through LDS, into registers."""

from expctl.gpu.tensile.parameter import ON_OFF, Parameter, param, per_side, switch

AB = {"A": "A", "B": "B"}
ABM = AB | {"Metadata": "the sparse metadata"}
SCALES = {"MXSA": "the block scales of A", "MXSB": "the block scales of B"}
AUTO = {"n1": "auto"}
ONE_LDS_BUFFER = param(
    "1LDSBuffer",
    "one LDS buffer instead of two, which saves LDS",
    {"0": "off: two buffers", "1": "on", "n1": "only if two don't fit"},
)

LOAD_KEYS: dict[str, Parameter] = {
    "PGR": param(
        "PrefetchGlobalRead",
        "loop iterations by which loads from global memory run ahead",
        {"0": "off", "1": "one ahead", "2": "two ahead: loaded again while the last goes to LDS"},
    ),
    "PLR": param(
        "PrefetchLocalRead", "steps by which reads from LDS run ahead; the generator may lower it", {"0": "no extra depth"}
    ),
    "HPLR": param(
        "HalfPLR",
        "reads from LDS run half a step ahead, to save registers",
        {"0": "off", "1": "for A", "2": "for B", "3": "for both"},
    ),
    "UPLRP": switch("UsePLRPack", "packing of what was read from LDS runs ahead as well"),
    **dict.fromkeys(("1LDSB", "LDSB"), ONE_LDS_BUFFER),
    "DPLB": param("DtlPlusLdsBuf", "one LDS buffer more, when loads go straight into LDS", ON_OFF | AUTO),
    "BL": switch("BufferLoad", "loads are buffer instructions, whose limits do the bounds checks"),
    "GRVW": param("GlobalReadVectorWidth", "elements per load from global memory", {"n1": "as VectorWidth"}),
    "GRVWA": param("GlobalReadVectorWidthA", "elements of A per load from global memory"),
    "GRVWB": param("GlobalReadVectorWidthB", "elements of B per load from global memory"),
    **per_side("GLVW{}", "GlobalLoadVectorWidth{}", "elements of {} per load from global memory", AB),
    **per_side("NLC{}", "NumLoadsCoalesced{}", "loads of {} per thread along the contiguous direction", AB),
    **per_side("NL{}", "NumLoads{}", "loads of {} per thread", AB),
    **per_side("NLP{}", "NumLoadsPerpendicular{}", "loads of {} per thread across the contiguous direction", AB),
    **per_side("GR2{}", "GlobalRead2{}", "two loads of {} in one instruction", AB, ON_OFF),
    **per_side(
        "GRCG{}",
        "GlobalReadCoalesceGroup{}",
        "threads load {} along its contiguous direction and transpose on the way to LDS",
        AB,
        ON_OFF,
    ),
    **per_side("GRCV{}", "GlobalReadCoalesceVector{}", "vectors of {} lie along its contiguous direction", AB, ON_OFF),
    **per_side(
        "WSGR{}",
        "WaveSeparateGlobalRead{}",
        "each wave loads a block of {} of its own",
        AB,
        {"0": "off: waves load side by side", "1": "on", "2": "on, with threads spread evenly across"},
    ),
    **per_side("TSGR{}", "ThreadSeparateGlobalRead{}", "loads of {} per wave are spread over parts of its threads", AB),
    **per_side("DTL{}", "DirectToLds{}", "loads of {} go straight into LDS, past the registers", ABM, ON_OFF),
    "DTL": param(
        "DirectToLds", "loads go straight into LDS, past the registers", {"0": "off", "1": "A and B", "2": "A", "3": "B"}
    ),
    **per_side(
        "DTV{}", "DirectToVgpr{}", "loads of {} go straight into the registers that compute, past LDS", AB | SCALES, ON_OFF
    ),
    "DTVSM": switch("DirectToVgprSparseMetadata", "loads of the sparse metadata go straight into registers, past LDS"),
    "TDMI": param("TDMInst", "loads by the tensor data mover", {"0": "off", "1": "A", "2": "B", "3": "both"}),
    "TDMS": switch("TDMSplit", "each load by the tensor data mover is made in two halves"),
    "TDMIM": param(
        "TDMIterateMode",
        "the tensor data mover iterates",
        {"n1": "auto", "0": "off", "1": "for A", "2": "for B", "3": "for both"},
    ),
    "MXLI": param(
        "MXLoadInst",
        "how the block scales are loaded",
        {"A": "auto", "TDM": "tensor data mover", "BL": "buffer loads", "GL": "global loads"},
    ),
    "MXSF": param(
        "MXScaleFormat",
        "how the block scales lie in memory",
        {"A": "auto", "NS": "in order", "HPS": "swizzled by the host", "IMS": "swizzled in memory"},
    ),
    "USFGRO": param(
        "UseSgprForGRO", "offsets of loads are kept in scalar registers", ON_OFF | {"n1": "auto: unless they are too many"}
    ),
    "UIOFGRO": param("UseInstOffsetForGRO", "offsets of loads stand in the instruction", ON_OFF | AUTO),
    **dict.fromkeys(("U64SL", "USL"), switch("Use64bShadowLimit", "64-bit limits, for matrices above 4 GiB")),
    "USLMX": switch("Use64bShadowLimitMX", "64-bit limits for the block scales"),
    "FL": param(
        "FractionalLoad", "some threads sit out the last load", {"0": "off", "1": "on", "2": "on, with fewer registers"}
    ),
    "ULSGRO": switch("UnrollLoopSwapGlobalReadOrder", "a second copy of the loop loads B before A"),
    "SGRO": param("SwapGlobalReadOrder", "order of the loads", {"0": "A first", "1": "B first"}),
    "BAI": switch("BAddrInterleave", "a tile takes columns of B that don't lie side by side"),
    "KRS": switch("KRingShift", "each workgroup starts the sum where B's address is aligned, and wraps"),
    "PGL": param("PrefetchGL2", "loads into L2 ahead of use", {"0": "off"}),
    "SU": param(
        "StaggerU",
        "different starts within the sum over which workgroups are spread, against hot memory channels",
        {"0": "off"},
    ),
    "SUS": param("StaggerUStride", "bytes between two starts of StaggerU"),
    "SUM": param(
        "StaggerUMapping",
        "what decides a workgroup's start",
        {"0": "its tile in M", "1": "its tile in N", "2": "its batch", "3": "its number", "4": "debugging"},
    ),
    **per_side("LP{}", "LdsPad{}", "elements of padding in LDS for {}", ABM | SCALES, AUTO),
    **per_side(
        "LBSPP{}", "LdsBlockSizePerPad{}", "bytes of {} in LDS between two paddings", ABM | SCALES, {"0": "no such blocks"}
    ),
    "LBSPP": param("LdsBlockSizePerPad", "bytes in LDS between two paddings", {"0": "no such blocks"}),
    "TLDS": param(
        "TransposeLDS",
        "layout in LDS",
        {
            "0": "tile direction contiguous",
            "1": "transposed: as in global memory",
            "2": "sum direction contiguous",
            "n1": "auto: as in global memory",
        },
    ),
    "TLDSM": param(
        "TransposeLDSMetadata",
        "layout of the sparse metadata in LDS",
        {"0": "tile direction contiguous", "1": "transposed", "n1": "auto"},
    ),
    **per_side("UMLDS{}", "UnrollMajorLDS{}", "{} lies in LDS with the sum direction contiguous", AB, ON_OFF),
    "LDSTI": switch("LDSTrInst", "reads from LDS transpose"),
    "LRVW": param("LocalReadVectorWidth", "elements per read from LDS", {"n1": "as VectorWidth"}),
    "CLR": switch("ClusterLocalRead", "reads from LDS have buffers of their own and stand together at the loop's start"),
    "VFLRP": switch("VgprForLocalReadPacking", "registers of their own for packing what was read from LDS"),
    "LDL": param("LocalDotLayout", "neighbours of the sum that lie together in LDS", {"1": "not interleaved"}),
    **per_side("LR2{}", "LocalRead2{}", "two reads of {} from LDS in one instruction", AB, ON_OFF),
    **per_side("LW2{}", "LocalWrite2{}", "two writes of {} to LDS in one instruction", AB, ON_OFF),
    "CADS": param("ConvertAfterDS", "where a narrow type is widened", {"0": "before LDS", "1": "after LDS"}),
    "PKA": switch("PreloadKernArgs", "arguments are in registers when the kernel starts"),
    "DRA": switch("DelayRemainingArguments", "arguments that are not preloaded are fetched later"),
}
