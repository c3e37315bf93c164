"""Mistakes of users: the exception type that upstream raises, the full form, and the user's own line."""

import linecache

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle import nn

# What the user writes, the exception, and words of the message.
MISTAKES = [line.split(" | ") for line in r"""
nn.LayerList([nn.Linear(3, 2)])(x) | NotImplementedError | LayerList: it holds others; hint: write a Layer whose forward
nn.ParameterList([p])(x) | NotImplementedError | ParameterList: it holds others
nn.Layer()(x) | NotImplementedError | Layer: it has no forward
nn.Linear(3, 4)(x, x) | TypeError | Linear: takes 1 positional arguments but 2; Linear(input); 2: float32[2, 3]
nn.Linear(3, 4)() | TypeError | missing 1 required positional argument: 'input'
nn.Linear(3, 4)(y=x) | TypeError | unexpected keyword argument 'y'
nn.CrossEntropyLoss()(x) | TypeError | CrossEntropyLoss: missing 1; expected: CrossEntropyLoss(input, label)
nn.Linear(3) | TypeError | Linear: missing 1; expected: Linear(in_features, out_features, weight_attr=None
nn.Linear(3, 4, nope=1) | TypeError | unexpected keyword argument 'nope'
nn.ReLU(1, 2) | TypeError | ReLU: too many positional arguments
nn.Linear(3, -1) | AssertionError | a size is negative; received: shape: [3, -1]
nn.Linear('a', 2) | TypeError | not made of integers
nn.Linear(4, 5)(x) | ValueError | float32[2, 3]
nn.Linear(3, 4)(None) | ValueError | is not a Tensor; None
nn.MultiHeadAttention(10, 3) | AssertionError | num_heads does not divide embed_dim; embed_dim: 10, num_heads: 3
nn.TransformerEncoderLayer(8, 2, 16, activation='nope') | AttributeError | there is no such activation; 'nope'
nn.LSTM(4, 5)(paddle.ones([2, 3, 6])) | ValueError | inputs: [batch, steps, 4]; float32[2, 3, 6]
nn.LSTM(4, 5, direction='sideways') | ValueError | direction is not known
nn.GRUCell(4, 0) | ValueError | hidden_size
nn.Conv2D(4, 6, 3)(paddle.ones([2, 3, 5, 5])) | ValueError | float32[2, 3, 5, 5]
nn.Conv2D(5, 4, 3, groups=2) | ValueError | groups does not divide in_channels
nn.Conv2D(4, 4, 3, groups=0) | ValueError | groups is not positive
nn.Conv2D(4, 6, 'three') | ValueError | kernel_size has the wrong length; 'three'
nn.Conv2D(4, 6, 3, padding_mode='mirror') | ValueError | padding_mode is not known
nn.Conv2D(4, 6, 3, weight_attr=False) | AssertionError | weight_attr is False
nn.GroupNorm(0, 4) | ValueError | num_groups is not positive
nn.BatchNorm2D(3)(paddle.ones([2, 4, 2, 2])) | ValueError | running_mean: float32[3]
nn.LayerNorm(None) | TypeError | LayerNorm: 'NoneType' object is not iterable; received: normalized_shape: None
nn.Embedding(10, 3, padding_idx=10) | ValueError | padding_idx
nn.Embedding(3, 2)(paddle.to_tensor([0, 5])) | ValueError | 5; [0, 3)
nn.Dropout(1.5)(x) | ValueError | p: 1.5
nn.PReLU(3)(paddle.ones([2, 4])) | AssertionError | not as many weights as channels; [1] or [4]
nn.Hardtanh('a')(x) | TypeError | hardtanh: min is not a number; min: 'a'
nn.Sequential(nn.Linear(2, 3))[4] | IndexError | Sequential: there is no such entry; [-1, 1); index: 4
nn.LayerList([nn.Linear(2, 3)])['a'] | KeyError | this is no position
nn.LayerDict({'a': nn.Linear(2, 3)})['b'] | KeyError | there is no entry 'b'; one of ['a']
nn.LayerList(3) | TypeError | LayerList: 'int' object is not iterable
nn.Linear(2, 3).add_sublayer('a', 3) | AssertionError | not a Layer
nn.Linear(2, 3).add_parameter('a', x) | TypeError | not a Parameter
nn.Linear(2, 3).add_parameter('a.b', p) | KeyError | the name contains a dot
nn.Linear(2, 3).register_buffer('a', 3) | TypeError | not a Tensor
nn.Linear(2, 3).__setattr__('weight', 3) | TypeError | weight
nn.Linear(2, 3).weight.set_value(paddle.ones([3, 3])) | AssertionError | float32[3, 3]
nn.Linear(2, 3).set_state_dict(3) | AttributeError | this holds no parameters
nn.Linear(2, 3).set_state_dict({'weight': 3}) | AttributeError | weight is no Tensor
nn.Linear(2, 3).astype('flot') | ValueError | not an element type
nn.Linear(2, 3).get_sublayer('a.b') | AttributeError | nothing at 'a.b'
nn.Linear(2, 3, weight_attr=nn.initializer.Dirac()) | AssertionError | no convolution's
nn.Linear(2, 3, weight_attr=nn.initializer.Normal('a')) | TypeError | mean
[nn.Linear(2, 3, weight_attr=paddle.ParamAttr(name='twice')) for _ in 'ab'] | ValueError | this name already; 'twice'
F.max_pool2d(paddle.ones([1, 1, 4, 4]), 2, ceil_mode='zz') | TypeError | ceil_mode is not True or False; ceil_mode: 'zz'
nn.Conv2D(4, 6, 2, padding='zz') | ValueError | padding is not known
nn.Linear(2, 3).create_parameter([2], device='nowhere') | ValueError | 'nowhere'
paddle.metric.Recall('r', nope=1) | TypeError | Recall: unknown arguments; nope=1
x.subtract_('a') | AttributeError | y is not a Tensor
nn.utils.weight_norm(nn.Linear(2, 3), 'nope') | KeyError | no parameter 'nope'
nn.utils.parameters_to_vector(3) | TypeError | parameters: 3
nn.ClipGradByGlobalNorm(None) | TypeError | clip_norm is not a number
F.cross_entropy(x, paddle.to_tensor([0, 3])) | IndexError | label: 3 at [1]; [0, 3)
F.cross_entropy(x, paddle.to_tensor([0, 1]), reduction='avg') | ValueError | reduction is not known; 'avg'
F.cross_entropy(x, None) | AttributeError | label is not a Tensor
F.cross_entropy(x, paddle.to_tensor([0, 1]), soft_label=True) | ValueError | soft labels do not fit
F.binary_cross_entropy(x, x) | ValueError | a probability is out of range; 2.0 at [0, 2], and 3 more
F.one_hot(paddle.to_tensor([[0], [9]]), 3) | ValueError | [0, 3)
F.conv2d([1.0], x) | AttributeError | x is not a Tensor
F.relu(None) | ValueError | x is not a Tensor
F.elu(x, alpha='a') | TypeError | alpha is not a number
F.gelu(x, approximate='nope') | ValueError | approximate is not known
F.softmax(x, axis=2) | ValueError | [-2, 2)
F.smooth_l1_loss(x, x, delta=[1]) | TypeError | delta is not a number; delta: [1]
F.group_norm(paddle.ones([2, 4, 2, 2]), 2, epsilon=x) | TypeError | epsilon is not a number; float32[2, 3]
F.pad(x, [1, 1], mode='a') | AssertionError | mode is not known
F.adaptive_avg_pool2d(paddle.ones([1, 1, 4, 4]), 'a') | IndexError | output_size is neither
paddle.optimizer.SGD(0.1) | AttributeError | parameters is missing
paddle.optimizer.SGD(0.1, parameters=p) | TypeError | parameters is not a list
paddle.optimizer.SGD(0.1, parameters=[3]) | AttributeError | parameters[0]: int
paddle.optimizer.SGD(0.1, parameters={'params': [p]}) | TypeError | parameters is not a list
paddle.optimizer.SGD(0.1, parameters=[{'lr': 1}]) | AssertionError | a group has no parameters
paddle.optimizer.SGD('a', parameters=[p]) | TypeError | the learning rate is of the wrong type
paddle.optimizer.Adam(0.1, beta1=1.5, parameters=[p]) | ValueError | 0 <= beta1 < 1
paddle.optimizer.Adam(0.1, beta1=None, parameters=[p]) | AssertionError | beta1 is not set
paddle.optimizer.SGD(0.1, parameters=[p], momentum=1) | TypeError | SGD: got an unexpected keyword argument 'momentum'
paddle.optimizer.SGD(0.1, parameters=[p]).set_lr('a') | TypeError | set_lr
paddle.optimizer.SGD(0.1, parameters=[p]).minimize(3) | AssertionError | loss is not a Tensor
paddle.optimizer.lr.StepDecay(-0.1, 2) | ValueError | learning_rate is negative
paddle.optimizer.lr.StepDecay(0.1, 2, gamma=1.5) | ValueError | gamma is out of place; gamma < 1
paddle.optimizer.lr.StepDecay(0.1, 'a') | TypeError | step_size is of the wrong type; step_size: 'a'
paddle.optimizer.lr.PolynomialDecay(0.1, 'a') | TypeError | decay_steps is not an integer
paddle.optimizer.lr.ReduceOnPlateau(0.1).step(x) | AssertionError | one number
paddle.optimizer.lr.StepDecay(0.1, 2).set_state_dict(3) | TypeError | StepDecay.set_state_dict
paddle.einsum('ij,jk->ik', x) | AssertionError | 2 operands, one for each of 'ij', 'jk'
paddle.einsum('ij,jk->ik', x, x) | ValueError | the sizes of 'j' differ; 3 and 2, in ij: [2, 3], jk: [2, 3]
paddle.einsum('...ijk->i', x) | AssertionError | at least 3 axes
paddle.einsum('i1->i', x) | AssertionError | '1', which is no letter
paddle.einsum('ij->k', x) | ValueError | 'k' is in the result and in no operand
paddle.einsum(3, x) | AttributeError | not a string
paddle.matmul(x, x) | ValueError | x: float32[2, 3], y: float32[2, 3]
paddle.add(x, paddle.ones([7])) | ValueError | do not broadcast; float32[7]
paddle.reshape(x, [4, 4]) | ValueError | x: [2, 3], shape: [4, 4]
paddle.reshape(x, [-1, -1]) | ValueError | [-1, -1]
paddle.reshape(x) | TypeError | missing 1 required positional argument: 'shape'; expected: reshape(x, shape, name=None)
paddle.concat([x, paddle.ones([2, 4])]) | ValueError | float32[2, 4]
paddle.concat(x, x) | ValueError | x is not a list of Tensors; hint: write paddle.concat([x, y], axis)
paddle.stack(x, x.numpy()) | ValueError | x is not a list of Tensors; hint: write paddle.stack([x, y], axis)
paddle.concat([x, x.astype('int64')]) | ValueError | float32, int64; hint: cast one; in x[1].astype('float32')
paddle.concat([x, x, x.astype('float64')]) | ValueError | x[2].astype('float32')
paddle.multiply(x, x.astype('int64')) | TypeError | hint: cast one of them, as in y.astype('float32')
F.mse_loss(x.astype('int64'), x) | TypeError | hint: cast one of them, as in x.astype('float32')
paddle.logical_and(x > 0, x.astype('int32')) | TypeError | x.astype('int32')
paddle.bitwise_or(x.astype('int32'), x.astype('int64')) | ValueError | x: int32[2, 3], y: int64[2, 3]; x.astype('int64')
paddle.searchsorted(x[0], x.astype('float64')) | ValueError | hint: cast one of them, as in values.astype('float32')
paddle.gather(x, x) | ValueError | hint: cast it, as in index.astype('int64')
nn.Linear(3, 4)(x.astype('float64')) | ValueError | float64[2, 3]; hint: cast one of them, as in x.astype('float32')
nn.Linear(3, 4)(x.astype('int64')) | ValueError | int64[2, 3]; hint: cast one of them, as in x.astype('float32')
nn.Linear(3, 4)(np.ones([2, 3])) | ValueError | array of float64 [2, 3]; hint: paddle.to_tensor(x, 'float32')
F.relu(np.ones([2], 'float32')) | ValueError | hint: paddle.to_tensor(x) makes it one
nn.Conv2D(1, 2, 1)(paddle.ones([1, 1, 2, 2], 'float64')) | ValueError | the element types differ; x.astype('float32')
nn.PReLU()(x.astype('float64')) | ValueError | prelu: the element types differ; x.astype('float32')
nn.Embedding(10, 3)(x) | NotImplementedError | float32[2, 3]; hint: cast it, as in x.astype('int64')
paddle.stack([x, paddle.ones([2, 4])]) | ValueError | float32[2, 4]
paddle.sum(x, axis=5) | ValueError | [-2, 2)
paddle.sum(x, dtype='flot') | ValueError | not an element type
paddle.exp(x, nope=1) | ValueError | exp: got an unexpected keyword argument 'nope'
paddle.abs_(x, nope=1) | TypeError | abs_: got an unexpected keyword argument 'nope'
x.astype('flot32') | TypeError | 'flot32'; hint: 'float32' is near
x.astype('str') | ValueError | not an element type
paddle.gather(x, paddle.to_tensor([0, 5, 7])) | IndexError | [-2, 2); index: 5 at [1], and 1 more
paddle.index_select(x, paddle.to_tensor([5])) | ValueError | index: 5 at [0]
paddle.linalg.inv(paddle.zeros([2, 2, 2])) | ValueError | a matrix is singular; float32[2, 2, 2], the matrix at [0]
paddle.linalg.cholesky(-paddle.eye(3)) | ValueError | not positive definite
paddle.to_tensor([1, 2]) // paddle.to_tensor([1, 0]) | IndexError | divided by zero; y: 0 at [1]
paddle.multinomial(x - 9) | ValueError | a probability is out of range; -9.0 at [0, 0]
paddle.to_tensor([[1, 2], [3]]) | ValueError | to_tensor
paddle.zeros([-1, 2]) | ValueError | a size is negative
(p * 2).backward(paddle.ones([5])) | AssertionError | does not fit its tensor; grad_tensor: float32[5]
(p * 2).backward(3) | AssertionError | is not a Tensor
p.add_(x) | ValueError | a leaf that needs gradients
paddle.Model(3) | AttributeError | Model: 'int' object; network: 3
paddle.Model(nn.Linear(3, 3)).fit([1]) | AttributeError | the model is not prepared
paddle.Model(nn.Linear(3, 3)).train_batch([x], [x]) | AssertionError | training needs an optimizer and a loss
paddle.metric.Accuracy(topk=0) | TypeError | Accuracy: 'int' object is not iterable
paddle.metric.Precision().update(3, 4) | ValueError | neither a Tensor nor an array
paddle.amp.GradScaler(incr_ratio=0.5) | AssertionError | incr_ratio is not above 1
paddle.amp.GradScaler(init_loss_scaling='a') | TypeError | init_loss_scaling is not a number
""".strip().split("\n")]  # fmt: skip


def read(value):
    for t in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(t, paddle.Tensor):
            t.numpy()


@pytest.mark.parametrize("number, code, kind, words", [(i, *m) for i, m in enumerate(MISTAKES)],
                         ids=[m[0][:60] for m in MISTAKES])  # fmt: skip
def test_mistake(number, code, kind, words):
    file = f"/home/user/mistake_{number}.py"
    linecache.cache[file] = (len(code), None, [code + "\n"], file)
    scope = {"paddle": paddle, "nn": nn, "F": F, "np": np}
    scope["x"] = paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3))
    scope["p"] = paddle.create_parameter([2, 3], "float32")
    with pytest.raises(Exception) as caught:
        read(eval(compile(code, file, "eval"), scope))
    e = caught.value
    builtin = next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins")
    assert builtin == kind, f"{type(e)}: {e}"
    text = str(e)
    first, *rest = text.split("\n")
    assert first.startswith("(") and ": " in first, text
    assert [line.split(":")[0] for line in rest if line[:2] == "  "][:2] == ["  expected", "  received"], text
    assert rest[-1] == f"  at: mistake_{number}.py:1, {code}", text
    for word in words.split("; "):
        assert word in text, text
