"""Table of keys in Tensile kernel names about stores of D, reads of C, and cache hints."""

from expctl.gpu.tensile.parameter import ON_OFF, Parameter, param, per_side, switch

TENSORS = {
    "": "all tensors",
    "A": "A",
    "B": "B",
    "C": "C",
    "D": "D",
    "E": "the auxiliary tensor",
    "WS": "the workspace",
    "Metadata": "the sparse metadata",
    "MXSA": "the block scales of A",
    "MXSB": "the block scales of B",
}
HINT = {
    "n1": "as set for each",
    "0": "none",
    "1": "glc or sc0",
    "2": "slc or sc1",
    "3": "both",
    "4": "nt",
    "5": "nt sc0",
    "6": "nt sc1",
    "7": "nt sc0 sc1",
}

STORE_KEYS: dict[str, Parameter] = {
    "BS": switch("BufferStore", "stores are buffer instructions, whose limits do the bounds checks"),
    "SVW": param("StoreVectorWidth", "elements per store", {"n1": "as VectorWidth"}),
    "VS": param("VectorStore", "stores are as wide as the vector", ON_OFF | {"n1": "auto: when that is valid"}),
    "VAW": param("VectorAtomicWidth", "elements per atomic instruction", {"n1": "as many as possible"}),
    "SRVW": param(
        "StoreRemapVectorWidth", "elements per store after D was rearranged in LDS", {"0": "not rearranged", "n1": "auto"}
    ),
    "NEPBS": param("NumElementsPerBatchStore", "elements stored at a time", {"0": "as many as registers allow"}),
    "SPO": switch("StorePriorityOpt", "the main loop has priority over another workgroup's stores"),
    "SSO": param("StoreSyncOpt", "waits between the batches of stores", {"0": "none"}),
    "GLS": switch("GroupLoadStore", "loads of C and stores of D follow each other directly"),
    "ONLL": param("OptNoLoadLoop", "stores among the last products", {"0": "off", "1": "one at a time", "2": "two at a time"}),
    "IA": switch("InterleaveAlpha", "scaling by alpha stands among the loads of C"),
    "AAC": switch("AtomicAddC", "D is added to C by atomic instructions"),
    "CLS": switch("CompactLoopStore", "the batches of stores are one loop, to save code"),
    "AG": switch("AdaptiveGemm", "store widths to choose from at launch"),
    "AGGSUA": switch("AdaptiveGemmGSUA", "ways to join a split sum, to choose from at launch"),
    "AGNTAB": switch("AdaptiveGemmNTAB", "cache hints of A and B, to choose from at launch"),
    "MPM": param(
        "MbskPrefetchMethod",
        "order in which the parts of a split sum are fetched",
        {"n1": "auto", "0": "by part", "1": "by element"},
    ),
    "SCIU": switch("StoreCInUnroll", "the last tile's results are stored within the loop"),
    "SCIUE": switch("StoreCInUnrollExact", "results are stored within the loop, for one exact length of the sum"),
    "SCIUI": param("StoreCInUnrollInterval", "matrix instructions between two stores within the loop"),
    "SCIUPL": switch("StoreCInUnrollPostLoop", "a loop after the main loop for what is left to store"),
    "FSSC1": switch("ForceStoreSC1", "stores carry sc1"),
    "MMF": param("MemoryModifierFormat", "names of the cache bits", {"GLC": "glc, slc", "SC": "sc0, sc1"}),
    **per_side("NT{}", "NonTemporal{}", "cache hint for {}", TENSORS, HINT),
    **per_side("TH{}", "TemporalHint{}", "temporal hint for {}", TENSORS, {"n1": "as set for each", "0": "none"}),
    **per_side("NV{}", "NonVolatile{}", "non-volatile hint for {}", TENSORS, ON_OFF | {"n1": "as set for each"}),
    "AF": switch("ActivationFused", "the activation is part of the kernel"),
    "AFC": param("ActivationFuncCall", "how the activation is built in", {"0": "inline", "1": "as a function"}),
    "AA": switch("ActivationAlt", "another implementation of the activation"),
}
