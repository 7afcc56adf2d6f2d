"""Compute with PyTorch what two builds of one version are to agree on, and write it as .npz.

`computed.py RESULTS.npz`. Inputs come from Python's own generator, so that every machine has the
same ones. Names say what was computed: `each.` results are held against each other element by
element, all others in the scale of their largest element.
"""

import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

Results = dict[str, Any]
Function = Callable[..., Tensor]

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
# Around the multiples of what a vector of 128 to 1024 bits holds, where tails begin.
SIZES = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 129, 257, 1000)

ANYWHERE = (
    "abs neg exp expm1 tanh sigmoid erf erfc sin cos tan atan sinh cosh asinh floor ceil "
    "round trunc frac sign square relu angle exp2 sinc"
).split()
POSITIVE = "log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma i0".split()
WITHIN_ONE = "asin acos atanh erfinv".split()
ACTIVATIONS = (
    "gelu silu softplus elu selu celu mish hardswish hardsigmoid hardtanh leaky_relu "
    "logsigmoid softsign tanhshrink relu6"
).split()
PAIRS = (
    "add sub mul div atan2 maximum minimum fmod remainder hypot copysign eq lt ge logaddexp fmax"
).split()
REDUCTIONS = (
    "sum mean prod amax amin argmax argmin logsumexp std var norm median cumsum "
    "cumprod softmax log_softmax"
).split()
WHOLE_PAIRS = "add sub mul maximum minimum bitwise_and bitwise_or bitwise_xor eq lt ge".split()


class Numbers:
    """The same numbers everywhere."""

    def __init__(self, seed: int) -> None:
        """Begin at a seed."""
        self._random = random.Random(seed)  # noqa: S311 - not for secrets

    def uniform(self, *shape: int, low: float = -3.0, high: float = 3.0) -> Tensor:
        """Give float64 numbers between two bounds."""
        count = int(np.prod(shape))
        values = [self._random.uniform(low, high) for _ in range(count)]
        return torch.tensor(values, dtype=torch.float64).reshape(shape)

    def whole(self, *shape: int, low: int = 0, high: int = 100) -> Tensor:
        """Give int64 numbers between two bounds, the upper one left out."""
        count = int(np.prod(shape))
        values = [self._random.randrange(low, high) for _ in range(count)]
        return torch.tensor(values).reshape(shape)


def plain(value: Tensor) -> np.ndarray:
    """Give a result as NumPy has it: half precision as float32, complex numbers as pairs."""
    value = value.detach()
    if value.is_complex():
        value = torch.view_as_real(value)
    if value.dtype in (torch.bfloat16, torch.float16):
        value = value.float()
    array: np.ndarray = value.contiguous().numpy()
    return array


def short(kind: torch.dtype) -> str:
    """Name a type without the module."""
    return str(kind).removeprefix("torch.")


def elementwise() -> Iterator[tuple[str, Tensor]]:
    """Functions of one and of two arrays, of every small size."""
    for size in SIZES:
        numbers = Numbers(size)
        anywhere, other = numbers.uniform(size), numbers.uniform(size)
        positive = numbers.uniform(size, low=0.05, high=20)
        inside = numbers.uniform(size, low=-0.95, high=0.95)
        for kind in FLOATS:
            mark = f"{short(kind)}.{size}"
            for names, given, home in (
                (ANYWHERE, anywhere, torch),
                (POSITIVE, positive, torch),
                (WITHIN_ONE, inside, torch),
                (ACTIVATIONS, anywhere, F),
            ):
                for name in names:
                    yield f"each.{name}.{mark}", getattr(home, name)(given.to(kind))
            for name in PAIRS:
                function: Function = getattr(torch, name)
                if kind not in (torch.float16, torch.bfloat16) or name != "logaddexp":
                    yield f"each.{name}.{mark}", function(anywhere.to(kind), other.to(kind))
            yield f"each.pow.{mark}", positive.to(kind).pow(other.to(kind) / 3)
            yield f"each.clamp.{mark}", anywhere.to(kind).clamp(-1, 0.5)
            yield f"each.lerp.{mark}", torch.lerp(anywhere.to(kind), other.to(kind), 0.3)
            yield f"each.where.{mark}", torch.where(other > 0, anywhere, other).to(kind)


def special() -> Iterator[tuple[str, Tensor]]:
    """What is not a number, not finite, or at a type's ends."""
    for kind in FLOATS:
        ends = torch.finfo(kind)
        values = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, ends.max, ends.min, ends.tiny]
        given = torch.tensor(values * 5 + [0.5], dtype=kind)
        names = "exp log sqrt sin tanh sigmoid erf floor round sign isnan isfinite signbit relu"
        for name in names.split():
            yield f"each.special.{name}.{short(kind)}", getattr(torch, name)(given)
        for name in ("maximum", "minimum", "fmax", "fmin", "add", "mul", "lt"):
            function: Function = getattr(torch, name)
            yield f"each.special.{name}.{short(kind)}", function(given[:, None], given[None, :])
        yield f"special.sort.{short(kind)}", given.sort(stable=True).indices
        yield f"special.amax.{short(kind)}", given.amax()


def reductions() -> Iterator[tuple[str, Tensor]]:
    """Sums and their kin along both directions, contiguous and not."""
    for size in SIZES:
        given = Numbers(1000 + size).uniform(3, size, low=-1.5, high=1.5)
        for kind in FLOATS:
            for axis in (0, 1):
                for name in REDUCTIONS:
                    if name in ("std", "var") and given.shape[axis] == 1:
                        continue
                    words = {"dtype": None} if "softmax" in name else {}
                    function: Function = getattr(torch, name)
                    found = function(given.to(kind), dim=axis, **words)
                    value = found if isinstance(found, Tensor) else found[0]
                    yield f"{name}.{short(kind)}.{size}.{axis}", value
            yield f"sum.transposed.{short(kind)}.{size}", given.to(kind).t().sum(0)
            yield f"sum.stepped.{short(kind)}.{size}", given.to(kind)[:, ::2].sum(1)


def whole_numbers() -> Iterator[tuple[str, Tensor]]:
    """Arithmetic that wraps, comparison, sorting, and counting."""
    for size in SIZES:
        numbers = Numbers(2000 + size)
        first, second = numbers.whole(size, low=-120, high=250), numbers.whole(size, high=90)
        for kind in INTEGERS:
            left, right = first.to(kind), second.to(kind)
            mark = f"{short(kind)}.{size}"
            for name in WHOLE_PAIRS:
                yield f"{name}.{mark}", getattr(torch, name)(left, right)
            yield f"divided.{mark}", torch.div(left, right + 1, rounding_mode="floor")
            yield f"remainder.{mark}", left.remainder(right + 1)
            yield f"shifted.{mark}", (left >> 2) + (left << 1)
            yield f"sum.{mark}", left.sum()
            yield f"cumsum.{mark}", left.cumsum(0)
            yield f"sorted.{mark}", left.sort(stable=True).indices
            yield f"top.{mark}", left.topk(min(3, size)).values
            yield f"ends.{mark}", torch.stack([left.amax(), left.amin()])


def casts() -> Iterator[tuple[str, Tensor]]:
    """Each type to each, and quantised numbers."""
    for size in (1, 7, 16, 33, 257):
        numbers = Numbers(3000 + size)
        given = numbers.uniform(size, low=0, high=100)
        for source in (*FLOATS, *INTEGERS, torch.bool):
            for target in (*FLOATS, *INTEGERS, torch.bool):
                value = given.to(source).to(target)
                yield f"each.cast.{short(source)}.{short(target)}.{size}", value
        values = numbers.uniform(4, size).float()
        for kind in (torch.qint8, torch.quint8, torch.qint32):
            found = torch.quantize_per_tensor(values, 0.04, 60, kind)
            yield f"quantised.{short(kind)}.{size}", found.int_repr()
            yield f"each.dequantised.{short(kind)}.{size}", found.dequantize()
        scales, zeros = torch.tensor([0.1, 0.02, 0.3, 0.05]), torch.tensor([0, 3, -2, 5])
        by_row = torch.quantize_per_channel(values, scales, zeros, 0, torch.qint8)
        yield f"quantised.rows.{size}", by_row.int_repr()


def matrices() -> Iterator[tuple[str, Tensor]]:
    """Products and factorisations."""
    for size in (1, 2, 5, 8, 16, 17, 33, 64):
        numbers = Numbers(4000 + size)
        left, right = numbers.uniform(size, size + 1), numbers.uniform(size + 1, size)
        square = numbers.uniform(size, size) + 4 * torch.eye(size, dtype=torch.float64)
        for kind in FLOATS:
            mark = f"{short(kind)}.{size}"
            yield f"matmul.{mark}", left.to(kind) @ right.to(kind)
            yield f"matvec.{mark}", left.to(kind) @ right[:, 0].to(kind)
            yield (
                f"batched.{mark}",
                torch.bmm(*(x.to(kind).expand(3, -1, -1) for x in (left, right))),
            )
            yield (
                f"addmm.{mark}",
                torch.addmm(square.to(kind), left.to(kind), right.to(kind), beta=2),
            )
        for kind in (torch.float32, torch.float64):
            mark, matrix = f"{short(kind)}.{size}", square.to(kind)
            positive = matrix @ matrix.t() / size
            yield f"inverse.{mark}", torch.linalg.inv(matrix)
            yield f"solved.{mark}", torch.linalg.solve(matrix, matrix.t())
            yield f"determinant.{mark}", torch.linalg.slogdet(matrix).logabsdet
            yield f"cholesky.{mark}", torch.linalg.cholesky(positive)
            yield f"singular.{mark}", torch.linalg.svdvals(matrix)
            yield f"eigenvalues.{mark}", torch.linalg.eigvalsh(positive)
            yield f"triangular.{mark}", torch.linalg.qr(matrix).R.abs()
            complex_numbers = torch.complex(matrix, matrix.t().contiguous())
            yield f"complex.{mark}", complex_numbers @ complex_numbers.conj().t()
            vector = complex_numbers[0]
            yield f"vdot.{mark}", torch.vdot(vector, complex_numbers[-1])
            yield f"dot.{mark}", torch.dot(vector, complex_numbers[-1])
            yield f"fft.{mark}", torch.fft.fft(matrix)
            yield f"rfft2.{mark}", torch.fft.rfft2(matrix)


def planted(module: nn.Module, seed: int) -> nn.Module:
    """Give a module the same weights everywhere."""
    numbers = Numbers(seed)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(numbers.uniform(*weight.shape, low=-0.4, high=0.4))
    return module


def fresh(value: Tensor, kind: torch.dtype) -> Tensor:
    """Give an input of its own, so that no other computation's graph hangs on it."""
    if not value.is_floating_point():
        return value
    return value.detach().to(kind, copy=True).requires_grad_()


def through(name: str, module: nn.Module, *given: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Go through a module forward and back, in double and in single precision."""
    for kind in (torch.float64, torch.float32):
        copy = planted(module, 77).to(kind)
        copy.zero_grad()
        inputs = [fresh(x, kind) for x in given]
        found = copy(*inputs)
        found = found[0] if isinstance(found, tuple) else found
        found.square().sum().backward()
        yield f"{name}.{short(kind)}.out", found
        for position, value in enumerate([*inputs, *copy.parameters()]):
            if value.grad is not None:
                yield f"{name}.{short(kind)}.gradient{position}", value.grad


def layers() -> Iterator[tuple[str, Tensor]]:
    """The layers that models are made of."""
    numbers = Numbers(5)
    rows, image = numbers.uniform(5, 37), numbers.uniform(2, 6, 11, 13)
    line, volume = numbers.uniform(2, 6, 19), numbers.uniform(1, 2, 5, 6, 7)
    words, steps = numbers.whole(3, 7, high=20), numbers.uniform(4, 3, 10)
    yield from through("linear", nn.Linear(37, 9), rows)
    yield from through("bilinear", nn.Bilinear(37, 37, 3), rows, rows.flip(0))
    for groups in (1, 2, 6):
        for size, stride, spread in ((1, 1, 1), (3, 1, 1), (3, 2, 1), (5, 1, 2)):
            layer = nn.Conv2d(6, 12, size, stride, 2, spread, groups)
            yield from through(f"conv2d.{groups}.{size}.{stride}.{spread}", layer, image)
    yield from through("depthwise", nn.Conv2d(6, 6, 3, padding=1, groups=6), image)
    yield from through("conv1d", nn.Conv1d(6, 4, 5, padding=2), line)
    yield from through("conv3d", nn.Conv3d(2, 3, 3), volume)
    yield from through("transposed", nn.ConvTranspose2d(6, 4, 3, 2, 1), image)
    for layer in (nn.BatchNorm2d(6), nn.GroupNorm(3, 6), nn.InstanceNorm2d(6)):
        yield from through(type(layer).__name__, layer, image)
    yield from through("layer_norm", nn.LayerNorm(37), rows)
    for layer in (nn.MaxPool2d(3), nn.AvgPool2d(3, 2), nn.AdaptiveAvgPool2d(4), nn.LPPool2d(2, 2)):
        yield from through(type(layer).__name__, layer, image)
    for mode in ("nearest", "bilinear", "bicubic"):
        yield from through(f"resized.{mode}", nn.Upsample(size=(17, 9), mode=mode), image)
    yield from through("pixels", nn.PixelShuffle(1), image)
    yield from through("embedding", nn.Embedding(20, 6), words)
    yield from through("bag", nn.EmbeddingBag(20, 6), words)
    for recurrent in (nn.RNN(10, 6), nn.GRU(10, 6, 2), nn.LSTM(10, 6, 2, bidirectional=True)):
        yield from through(type(recurrent).__name__, recurrent, steps)
    attention = nn.MultiheadAttention(10, 2)
    yield from through("attention", attention, steps, steps.flip(0), steps * 0.5)
    for name in ("gelu", "relu"):
        block = nn.TransformerEncoderLayer(10, 2, 24, dropout=0.0, activation=name)
        yield from through(f"block.{name}", block, steps)
    for loss in (nn.MSELoss(), nn.SmoothL1Loss(), nn.HuberLoss(), nn.KLDivLoss(reduction="sum")):
        yield from through(type(loss).__name__, loss, rows, rows.flip(0))
    classes = torch.arange(5)
    yield from through("cross_entropy", nn.CrossEntropyLoss(label_smoothing=0.1), rows, classes)


class Model(nn.Module):
    """A small language model: words, two transformer blocks, an LSTM, and a guess of the next."""

    def __init__(self) -> None:
        """Make its parts."""
        super().__init__()
        self.words = nn.Embedding(50, 32)
        block = nn.TransformerEncoderLayer(
            32, 4, 64, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.memory = nn.LSTM(32, 32, batch_first=True)
        self.guess = nn.Linear(32, 50)

    def forward(self, words: Tensor) -> Tensor:
        """Give how likely each word is to come next."""
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        values = self.blocks(self.words(words), mask=mask.to(self.guess.weight.dtype))
        likely: Tensor = self.guess(self.memory(values)[0])
        return likely


def model() -> Iterator[tuple[str, Tensor]]:
    """Three steps of learning, with all gradients and weights."""
    for kind in (torch.float64, torch.float32):
        learner = planted(Model(), 11).to(kind)
        optimiser = torch.optim.AdamW(learner.parameters(), lr=1e-3, eps=1e-4)
        words = Numbers(12).whole(4, 13, high=50)
        for turn in range(3):
            optimiser.zero_grad()
            likely = learner(words[:, :-1])
            loss = F.cross_entropy(likely.reshape(-1, 50), words[:, 1:].reshape(-1))
            loss.backward()
            yield f"model.{short(kind)}.{turn}.likely", likely
            yield f"model.{short(kind)}.{turn}.loss", loss
            for name, weight in learner.named_parameters():
                if weight.grad is not None:
                    yield f"model.{short(kind)}.{turn}.{name}.gradient", weight.grad
            optimiser.step()
        for name, weight in learner.named_parameters():
            yield f"model.{short(kind)}.{name}", weight


GROUPS = (
    elementwise,
    special,
    reductions,
    whole_numbers,
    casts,
    matrices,
    layers,
    model,
)


def main() -> None:
    """Compute all groups and write what they gave."""
    torch.set_num_threads(2)
    results: Results = {}
    for group in GROUPS:
        for name, value in group():
            if name in results:
                sys.exit(f"two results are called {name}")
            results[name] = plain(value).copy()
        sys.stderr.write(f"{group.__name__}: {len(results)} results\n")
    np.savez_compressed(sys.argv[1], **results)


if __name__ == "__main__":
    main()
