"""Saved programs, run without Python source: `Config`, `create_predictor`, `Predictor`.

Example: a model saved by `paddle.jit.save(net, "folder/net", [InputSpec([None, 3])])` is run by

    config = paddle.inference.Config("folder/net.json", "folder/net.pdiparams")
    predictor = paddle.inference.create_predictor(config)
    x = predictor.get_input_handle(predictor.get_input_names()[0])
    x.copy_from_cpu(array)
    predictor.run()
    result = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
"""

from .config import Config
from .kinds import DataType, PlaceType, PrecisionType, get_num_bytes_of_data_type
from .predictor import (
    Predictor,
    PredictorPool,
    Tensor,
    create_predictor,
    get_trt_compile_version,
    get_trt_runtime_version,
    get_version,
)

__all__ = [
    "Config",
    "DataType",
    "PlaceType",
    "PrecisionType",
    "Tensor",
    "Predictor",
    "create_predictor",
    "get_version",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_num_bytes_of_data_type",
    "PredictorPool",
]
