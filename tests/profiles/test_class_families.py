"""Names that tools cut, and steps beside the work of an operator."""

import pytest

from expctl.domain.patch.function_name import function_name
from expctl.profiles.assemble.classify import classify
from expctl.profiles.model.kernel_profile import KernelClass as K


def test_names_whose_unnamed_namespaces_lost_a_bracket() -> None:
    cut = "void unnamed>::CatArrayBatchedCopy<unnamed>::OpaqueType<2>, unsigned int, 4, 64, 64>(T1 *, unnamed>::Data<T1>, int)"
    assert function_name(cut) == "CatArrayBatchedCopy"
    assert classify(cut) is K.COPY
    assert function_name("void a::<unnamed>::b<a::<unnamed>::c<2>, 4>(int)") == "a::b"


@pytest.mark.parametrize(
    ("operator", "name", "kind"),
    [
        (
            "aten::cudnn_convolution",
            "void cudnn::ops::scalePackedTensor_kernel<float, float>(long, float*, float)",
            K.ELEMENTWISE,
        ),
        ("aten::addmm", "void add_bias_kernel<float>(float*)", K.ELEMENTWISE),
        (
            "aten::mse_loss",
            "void vectorized_elementwise_kernel<4, at::native::mse_kernel_cuda(X&)::{lambda()#1}>(int)",
            K.ELEMENTWISE,
        ),
        (
            "aten::_foreach_norm",
            "void multi_tensor_apply_kernel<TensorListMetadata<1>, LpNormFunctor<float, 1> >(int)",
            K.REDUCTION,
        ),
        ("aten::index_put_", "void cub::DeviceRadixSortOnesweepKernel<cub::Policy, false>(int*)", K.REDUCTION),
        ("aten::cudnn_convolution", "ampere_scudnn_128x64_relu_small_nn_v1", K.CONVOLUTION),
        ("aten::copy_", "void elementwise_kernel<128, 4, gpu_kernel_impl<unknown> >(int)", K.COPY),
    ],
)
def test_a_step_beside_the_work_of_an_operator_is_what_its_name_says(operator: str, name: str, kind: K) -> None:
    assert classify(name, [operator]) is kind
