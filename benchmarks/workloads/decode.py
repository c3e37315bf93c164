"""Decoding of a network of GPT-2's small size: batch 1, one token a step, keys and values of 128 positions kept.

Once in float32, and once with the weights in bfloat16, against PyTorch in float32: a step reads every weight once, and
half as many bytes should take half the time.
"""

from __future__ import annotations

import functools

from . import Step, Workload

LAYERS, WIDTH, HEADS, WORDS, LENGTH = 12, 768, 12, 50257, 128
EACH = WIDTH // HEADS


def paddle_step(bf16: bool = False) -> Step:
    import paddle
    from paddle import nn
    from paddle.nn import functional as F

    paddle.seed(0)

    class Block(nn.Layer):
        def __init__(self):
            super().__init__()
            self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x, keys, values, here, mask):
            q, k, v = self.qkv(self.before(x)).reshape([1, 3, HEADS, 1, EACH]).unbind(1)
            keys, values = paddle.where(here, k, keys), paddle.where(here, v, values)
            scores = paddle.matmul(q, keys, transpose_y=True) / EACH**0.5 + mask
            x = x + self.out(paddle.matmul(F.softmax(scores), values).reshape([1, 1, WIDTH]))
            return x + self.down(F.gelu(self.up(self.after(x)))), keys, values

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.LayerList([Block() for _ in range(LAYERS)])
            self.norm = nn.LayerNorm(WIDTH)
            self.at = paddle.arange(LENGTH)

        def forward(self, token, place, cache):
            x = self.words(token) + self.places(place)
            here = (self.at == place).reshape([1, 1, LENGTH, 1])
            mask = paddle.where(self.at <= place, 0.0, -1e9).astype(self.words.weight.dtype)
            kept = []
            for block, (keys, values) in zip(self.blocks, cache):
                x, keys, values = block(x, keys, values, here, mask)
                kept.append((keys, values))
            logits = paddle.matmul(self.norm(x), self.words.weight, transpose_y=True)
            return logits.argmax(-1), kept

    net = Net()
    net.eval()
    if bf16:
        net.bfloat16()
    empty = paddle.zeros([1, HEADS, LENGTH, EACH], "bfloat16" if bf16 else "float32")
    state = {"token": paddle.to_tensor([[1]]), "cache": [(empty, empty)] * LAYERS}

    def step(i: int) -> float:
        with paddle.no_grad():
            place = paddle.to_tensor([[i % LENGTH]])
            state["token"], state["cache"] = net(state["token"], place, state["cache"])
        return float(int(state["token"]))

    return step


def torch_step(compile: bool) -> Step:
    import torch
    from torch import nn
    from torch.nn import functional as F

    torch.manual_seed(0)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
            self.register_buffer("keys", torch.zeros(1, HEADS, LENGTH, EACH))
            self.register_buffer("values", torch.zeros(1, HEADS, LENGTH, EACH))

        def forward(self, x, place, mask):
            q, k, v = self.qkv(self.before(x)).view(1, 3, HEADS, 1, EACH).unbind(1)
            self.keys.index_copy_(2, place, k)
            self.values.index_copy_(2, place, v)
            y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
            x = x + self.out(y.reshape(1, 1, WIDTH))
            return x + self.down(F.gelu(self.up(self.after(x))))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
            self.norm = nn.LayerNorm(WIDTH)
            self.register_buffer("at", torch.arange(LENGTH))

        def forward(self, token, place):
            x = self.words(token) + self.places(place)
            mask = (self.at <= place)[None, None]
            for block in self.blocks:
                x = block(x, place[0], mask)
            return F.linear(self.norm(x), self.words.weight).argmax(-1)

    net = Net().eval()
    forward = torch.compile(net) if compile else net
    state = {"token": torch.tensor([[1]])}

    def step(i: int) -> float:
        with torch.no_grad():
            state["token"] = forward(state["token"], torch.tensor([[i % LENGTH]]))
        return float(int(state["token"]))

    return step


FLOPS = 2.0 * (LAYERS * 12 * WIDTH**2 + WORDS * WIDTH)
WORKLOADS = {
    "decode": Workload(paddle_step, torch_step, 30, 10, 10, FLOPS, bound=0.85),
    "decode_bf16": Workload(functools.partial(paddle_step, bf16=True), torch_step, 30, 10, 10, FLOPS, bound=0.5),
}
