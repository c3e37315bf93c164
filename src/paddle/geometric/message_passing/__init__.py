"""Messages along the edges of a graph."""

from .send_recv import send_u_recv, send_ue_recv, send_uv

__all__: list[str] = []
