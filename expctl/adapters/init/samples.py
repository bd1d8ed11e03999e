"""What the harness says of the sample kernels in expctl/views/samples."""

from expctl.domain.protocol.first_protocol import Kind, Sketch

_ROWS = Sketch(
    function="softmax",
    parameters=("x",),
    size="rows=512",
    size_words="rows=512",
    size_names="rows",
    inputs="torch.randn(rows, 1000, device=DEVICE),",
    call="build.softmax(x)",
    reference="torch.softmax(x.double(), dim=1)",
)
_AXPY = Sketch(
    function="axpy",
    parameters=("a", "x", "y", "out"),
    size="n=16777216",
    size_words="n=1 << 24",
    inputs="1.5, torch.randn(n, device=DEVICE), torch.randn(n, device=DEVICE)",
    outputs="torch.empty(n, device=DEVICE),",
    call="build.axpy(a, x, y, out, x.numel())",
    reference="a * x.double() + y.double()",
    signature="int(float a, const float *x, const float *y, float *out, int n)",
)
_EXPONENTIALS = "np.exp(x - x.max(axis=1, keepdims=True))"
SAMPLES = {
    Kind.C: Sketch(
        function="dot",
        parameters=("x", "y"),
        size="n=262144",
        size_words="n=1 << 18",
        inputs="rng.standard_normal(n), rng.standard_normal(n)",
        call="build.dot(x, y, x.size)",
        reference="np.dot(x, y)",
        signature="double(const double *x, const double *y, long n)",
    ),
    Kind.PYTHON: Sketch(
        function="softmax",
        parameters=("x",),
        size="rows=512",
        size_words="rows=512",
        size_names="rows",
        inputs="rng.standard_normal((rows, 1000)),",
        call="build.softmax(x)",
        reference=f"{_EXPONENTIALS} / {_EXPONENTIALS}.sum(axis=1, keepdims=True)",
    ),
    Kind.TORCH: _ROWS,
    Kind.TRITON: _ROWS,  # without a GPU in fewer rows, because Triton's interpreter is slow
    Kind.CUDA: _AXPY,
    Kind.HIP: _AXPY,
}
NAMES = {
    Kind.C: "dot.c",
    Kind.CUDA: "axpy.cu",
    Kind.HIP: "axpy.hip",
    Kind.PYTHON: "softmax.py",
    Kind.TORCH: "softmax.py",
    Kind.TRITON: "softmax.py",
}
