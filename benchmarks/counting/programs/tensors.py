"""Operators of PyTorch in one thread. Runs on riscv64; results are held against float64."""

from collections.abc import Callable

import torch
from marks import measure
from torch import Tensor
from torch.nn import functional

TOLERANCE = 2e-5


def operators() -> dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]]:
    """Give each operator and its input, the same at every run."""
    source = torch.Generator().manual_seed(1)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=source)

    flat, square = normal(64, 1000), (normal(256, 256), normal(256, 256))
    return {
        "exp 64000": (torch.exp, (flat,)),
        "softmax 64x1000": (lambda x: torch.softmax(x, -1), (flat,)),
        "gelu 64000": (functional.gelu, (flat,)),
        "layer_norm 64x1000": (lambda x: functional.layer_norm(x, x.shape[-1:]), (flat,)),
        "add 64000": (lambda x: x + x, (flat,)),
        "sum 64000": (torch.sum, (flat,)),
        "matmul 256": (torch.mm, square),
        "conv2d 3x3 16x16x32x32": (
            lambda x, w: functional.conv2d(x, w, padding=1),
            (normal(1, 16, 32, 32), normal(16, 16, 3, 3)),
        ),
    }


def near(got: Tensor, wanted: Tensor) -> bool:
    """Say whether a result is as near as float32 allows, on the scale of the largest element."""
    return bool((got.double() - wanted).abs().max() <= TOLERANCE * wanted.abs().max())


def main() -> None:
    """Count every operator."""
    torch.set_num_threads(1)
    with torch.inference_mode():
        for name, (act, inputs) in operators().items():
            measure(
                name,
                lambda act=act, inputs=inputs: act(*inputs),
                lambda act=act, inputs=inputs: near(
                    act(*inputs), act(*(tensor.double() for tensor in inputs))
                ),
            )


if __name__ == "__main__":
    main()
