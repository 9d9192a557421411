//! The instruction table: the opcodes and modifiers of instruction names. Types are in the syntax tree.

use crate::ptx::ast::names;

names! {
    /// The first part of an instruction's name.
    Opcode {
        Addc = "addc", Applypriority = "applypriority", Bmsk = "bmsk", Brkpt = "brkpt", Device = "__device",
        Createpolicy = "createpolicy", Discard = "discard", Dp2a = "dp2a", Dp4a = "dp4a", Fns = "fns", Griddepcontrol = "griddepcontrol", Mad24 = "mad24", Madc = "madc",
        Mul24 = "mul24", Nanosleep = "nanosleep", Pmevent = "pmevent", Prefetch = "prefetch",
        Prefetchu = "prefetchu", Subc = "subc", Szext = "szext",
        Abs = "abs", Add = "add", And = "and", Atom = "atom", Bfe = "bfe", Bfi = "bfi", Bfind = "bfind", Bra = "bra",
        Brev = "brev", BrxIdx = "brx", Call = "call", Clz = "clz", CNot = "cnot", Copysign = "copysign", Cos = "cos",
        Cp = "cp", Cvt = "cvt", Cvta = "cvta", Div = "div", Ex2 = "ex2", Exit = "exit", Fence = "fence", Fma = "fma",
        IsSpaceP = "isspacep", Ld = "ld", Ldu = "ldu", Lg2 = "lg2", Lop3 = "lop3", Mad = "mad", Max = "max",
        Membar = "membar", Min = "min", Mov = "mov", Mul = "mul", Neg = "neg", Not = "not", Or = "or", Popc = "popc",
        Prmt = "prmt", Rcp = "rcp", Red = "red", Rem = "rem", Ret = "ret", Rsqrt = "rsqrt", Sad = "sad",
        Selp = "selp", Setmaxnreg = "setmaxnreg", Setp = "setp", Set = "set", Shf = "shf", Shl = "shl", Shr = "shr", Sin = "sin", Slct = "slct",
        Sqrt = "sqrt", St = "st", Sub = "sub", Tanh = "tanh", Testp = "testp", Trap = "trap", Xor = "xor",
        // Video.
        Vabsdiff = "vabsdiff", Vabsdiff2 = "vabsdiff2", Vabsdiff4 = "vabsdiff4", Vadd = "vadd", Vadd2 = "vadd2",
        Vadd4 = "vadd4", Vavrg2 = "vavrg2", Vavrg4 = "vavrg4", Vmad = "vmad", Vmax = "vmax", Vmax2 = "vmax2",
        Vmax4 = "vmax4", Vmin = "vmin", Vmin2 = "vmin2", Vmin4 = "vmin4", Vset = "vset", Vset2 = "vset2",
        Vset4 = "vset4", Vshl = "vshl", Vshr = "vshr", Vsub = "vsub", Vsub2 = "vsub2", Vsub4 = "vsub4",
        Mbarrier = "mbarrier",
        // Matrices.
        Ldmatrix = "ldmatrix", Mma = "mma", Movmatrix = "movmatrix", Stmatrix = "stmatrix", Wmma = "wmma",
        // Synchronisation.
        ActiveMask = "activemask", Bar = "bar", Barrier = "barrier", Elect = "elect", GetCtaRank = "getctarank",
        Mapa = "mapa", Match = "match", Redux = "redux", Shfl = "shfl", Vote = "vote",
    }
}

names! {
    /// A part of an instruction's name other than the opcode and types.
    Modifier {
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
        Ftz = "ftz", Sat = "sat", Lo = "lo", Hi = "hi", Wide = "wide", Approx = "approx", Full = "full", NaN = "NaN",
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Ls = "ls", Hs = "hs", Equ = "equ",
        Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num", Nan = "nan", And = "and",
        Or = "or", Xor = "xor", Global = "global", Shared = "shared", SharedCta = "shared::cta", Local = "local",
        Const = "const", Param = "param", ParamEntry = "param::entry", ParamFunc = "param::func",
        Weak = "weak", Volatile = "volatile", Relaxed = "relaxed", Acquire = "acquire", Release = "release",
        AcqRel = "acq_rel", Sc = "sc", Cta = "cta", Cluster = "cluster", Gpu = "gpu", Gl = "gl", Sys = "sys",
        V2 = "v2", V4 = "v4", V8 = "v8", Nc = "nc", Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv",
        Wb = "wb", Wt = "wt", L1EvictNormal = "L1::evict_normal", L1EvictUnchanged = "L1::evict_unchanged",
        L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last", L1NoAllocate = "L1::no_allocate",
        L2P64 = "L2::64B", L2P128 = "L2::128B", L2P256 = "L2::256B",
        Cas = "cas", Exch = "exch", Add = "add", Inc = "inc", Dec = "dec", Min = "min", Max = "max",
        LaunchDependents = "launch_dependents", Mask = "mask", Fractional = "fractional", Range = "range", Cvt = "cvt", L2CacheHint = "L2::cache_hint",
        L2EvictFirst = "L2::evict_first", L2EvictUnchanged = "L2::evict_unchanged",
        Po = "po", Shr7 = "shr7", Shr15 = "shr15", Wrap = "wrap", Clamp = "clamp", L = "l", R = "r", Uni = "uni", To = "to", Idx = "idx",
        Shiftamt = "shiftamt", F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16",
        Abs = "abs", Alias = "alias", Assertfail = "assertfail", Async = "async", Cc = "cc", Free = "free",
        L1 = "L1", L2 = "L2", L2EvictLast = "L2::evict_last", L2EvictNormal = "L2::evict_normal", Malloc = "malloc",
        Mmio = "mmio", Noftz = "noftz", Pack = "pack", Printf = "printf", Proxy = "proxy", Relu = "relu", Rna = "rna",
        Satfinite = "satfinite", SharedCluster = "shared::cluster", Xorsign = "xorsign",
        Finite = "finite", Infinite = "infinite", Number = "number", Notanumber = "notanumber", Normal = "normal",
        Subnormal = "subnormal",
        // Copies.
        CommitGroup = "commit_group", WaitGroup = "wait_group", WaitAll = "wait_all",
        Mbarrier = "mbarrier", Noinc = "noinc", Bulk = "bulk", BulkGroup = "bulk_group", Read = "read",
        CompleteBytes = "mbarrier::complete_tx::bytes", MulticastCluster = "multicast::cluster", Prefetched = "prefetch",
        // Barriers in shared memory.
        Init = "init", Inval = "inval", ExpectTx = "expect_tx", CompleteTx = "complete_tx", ArriveDrop = "arrive_drop",
        NoComplete = "noComplete", TestWait = "test_wait", TryWait = "try_wait", Parity = "parity",
        PendingCount = "pending_count", MbarrierInit = "mbarrier_init",
        // Matrices.
        M8N8 = "m8n8", M8N8K4 = "m8n8k4", M8N8K16 = "m8n8k16", M8N8K32 = "m8n8k32", M8N8K128 = "m8n8k128",
        M16N8K4 = "m16n8k4", M16N8K8 = "m16n8k8", M16N8K16 = "m16n8k16", M16N8K32 = "m16n8k32", M16N8K64 = "m16n8k64",
        M16N16K8 = "m16n16k8", M16N16K16 = "m16n16k16", M8N32K16 = "m8n32k16", M32N8K16 = "m32n8k16", M16N8K128 = "m16n8k128", M16N8K256 = "m16n8k256", Row = "row", Col = "col", Trans = "trans", Load = "load", Store = "store", Mma = "mma", A = "a", B = "b", C = "c", D = "d", X1 = "x1",
        X2 = "x2", X4 = "x4",
        // Synchronisation.
        Sync = "sync", Arrive = "arrive", Wait = "wait", Aligned = "aligned", Warp = "warp", Red = "red", Popc = "popc", Up = "up",
        Down = "down", Bfly = "bfly", All = "all", Any = "any", Ballot = "ballot",
    }
}
