"""Modules of torch.nn that are made of others: evaluated like a reference, by the same rules; never run.

Names of parameters and their order are PyTorch's. aten.nn.* are rows of our own (src/read/frontend/ops_recurrent.cpp).
"""
import aten
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from kernelwright import names


class RecurrentLayers(nn.Module):
    def __init__(self, kind, gates, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, dtype):
        super().__init__()
        self.kind = kind
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        if num_layers < 1:
            raise ValueError(f"{kind} has {num_layers} layers; it takes one at least")
        if proj_size and kind != "lstm":
            raise ValueError(f"proj_size is for LSTM alone, not for {kind}")
        if proj_size and proj_size >= hidden_size:
            raise ValueError(f"proj_size {proj_size} is not below hidden_size {hidden_size}")
        kept = proj_size if proj_size else hidden_size
        self.ends = ("", "_reverse") if bidirectional else ("",)
        for layer in range(num_layers):
            width = input_size if layer == 0 else kept * len(self.ends)
            for end in self.ends:
                name = f"_l{layer}{end}"
                setattr(self, "weight_ih" + name, nn.Parameter(torch.empty(gates * hidden_size, width, dtype=dtype)))
                setattr(self, "weight_hh" + name, nn.Parameter(torch.empty(gates * hidden_size, kept, dtype=dtype)))
                if bias:
                    setattr(self, "bias_ih" + name, nn.Parameter(torch.empty(gates * hidden_size, dtype=dtype)))
                    setattr(self, "bias_hh" + name, nn.Parameter(torch.empty(gates * hidden_size, dtype=dtype)))
                if proj_size:
                    setattr(self, "weight_hr" + name, nn.Parameter(torch.empty(proj_size, hidden_size, dtype=dtype)))

    def flatten_parameters(self):
        return None

    def start(self, given, x, width):
        shape = (self.num_layers * len(self.ends), *x.shape[1:-1], width)
        if given is None:
            return torch.zeros(shape, dtype=x.dtype)
        if tuple(given.shape) != shape:
            raise RuntimeError(f"the first state has shape {list(given.shape)}, not {shape}")
        return given

    def forward(self, input, hx=None):
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError(f"{self.kind} takes an input of 2 or 3 dims, not {input.dim()}")
        if self.dropout > 0 and self.training and self.num_layers > 1:
            raise ValueError(f"{self.kind} with dropout between its layers draws random numbers, so no result is the right one; pass dropout 0, or call .eval()")
        turned = self.batch_first and input.dim() == 3
        x = input.transpose(0, 1) if turned else input
        lstm = self.kind == "lstm"
        if lstm and hx is not None and (torch.is_tensor(hx) or len(hx) != 2):
            raise RuntimeError("the first state of an LSTM is a pair (h_0, c_0)")
        if not lstm and hx is not None and not torch.is_tensor(hx):
            raise RuntimeError(f"the first state of {self.kind} is one tensor")
        hidden = self.start(hx[0] if lstm and hx is not None else hx, x, self.proj_size if self.proj_size else self.hidden_size)
        cell = self.start(None if hx is None else hx[1], x, self.hidden_size) if lstm else None
        last_hidden, last_cell = [], []
        for layer in range(self.num_layers):
            results = []
            for end in self.ends:
                at = len(last_hidden)
                name = f"_l{layer}{end}"
                result, h, c = aten.nn.recurrent_layer(
                    x, hidden[at], cell[at] if lstm else None, kind=self.kind, w_ih=getattr(self, "weight_ih" + name),
                    w_hh=getattr(self, "weight_hh" + name), b_ih=getattr(self, "bias_ih" + name, None),
                    b_hh=getattr(self, "bias_hh" + name, None), w_hr=getattr(self, "weight_hr" + name, None), backwards=end != "")
                results.append(result)
                last_hidden.append(h)
                last_cell.append(c)
            x = torch.cat(results, -1) if len(results) > 1 else results[0]
        output = x.transpose(0, 1) if turned else x
        h_n = torch.stack(last_hidden)
        if lstm:
            return output, (h_n, torch.stack(last_cell))
        return output, h_n


@names("torch.nn.RNN")
class RNN(RecurrentLayers):
    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0,
                 device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN has the nonlinearities 'tanh' and 'relu', not '{nonlinearity}'")
        super().__init__("rnn_" + nonlinearity, 1, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, dtype)


@names("torch.nn.LSTM")
class LSTM(RecurrentLayers):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__("lstm", 4, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, dtype)


@names("torch.nn.GRU")
class GRU(RecurrentLayers):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__("gru", 3, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, dtype)


@names("torch.nn.MultiheadAttention")
class MultiheadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None, batch_first=False, device=None,
                 dtype=None):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim {embed_dim} is not a multiple of num_heads {num_heads}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.one_weight = self.kdim == embed_dim and self.vdim == embed_dim
        if self.one_weight:
            self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim, dtype=dtype))
        else:
            self.q_proj_weight = nn.Parameter(torch.empty(embed_dim, embed_dim, dtype=dtype))
            self.k_proj_weight = nn.Parameter(torch.empty(embed_dim, self.kdim, dtype=dtype))
            self.v_proj_weight = nn.Parameter(torch.empty(embed_dim, self.vdim, dtype=dtype))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim, dtype=dtype)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        self.bias_k = nn.Parameter(torch.empty(1, 1, embed_dim, dtype=dtype)) if add_bias_kv else None
        self.bias_v = nn.Parameter(torch.empty(1, 1, embed_dim, dtype=dtype)) if add_bias_kv else None

    def projected(self, x, third):
        if self.one_weight:
            weight = self.in_proj_weight.narrow(0, third * self.embed_dim, self.embed_dim)
        else:
            weight = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)[third]
        bias = None if self.in_proj_bias is None else self.in_proj_bias.narrow(0, third * self.embed_dim, self.embed_dim)
        return F.linear(x, weight, bias)

    def heads(self, x, added):
        n = x.shape[0]
        if added is not None:
            x = torch.cat([x, added.expand(n, 1, self.embed_dim)], 1)
        x = x.reshape(n, x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)
        if self.add_zero_attn:
            x = torch.cat([x, torch.zeros(n, self.num_heads, 1, self.head_dim, dtype=x.dtype)], 2)
        return x

    def masked(self, mask, shape, more, like):
        """A mask as numbers to add, extended for add_bias_kv and add_zero_attn."""
        if mask is None:
            return None
        mask = mask.reshape(shape)
        if more:
            mask = F.pad(mask.to(torch.int32), (0, more)).bool() if mask.dtype == torch.bool else F.pad(mask, (0, more))
        if mask.dtype == torch.bool:
            return torch.zeros_like(mask, dtype=like.dtype).masked_fill(mask, float("-inf"))
        return mask

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False):
        if query.dim() != 2 and query.dim() != 3:
            raise ValueError(f"MultiheadAttention takes a query of 2 or 3 dims, not {query.dim()}")
        if self.dropout > 0 and self.training:
            raise ValueError("MultiheadAttention with dropout draws random numbers, so no result is the right one; pass dropout 0, or call .eval()")
        batched = query.dim() == 3
        q, k, v = self.projected(query, 0), self.projected(key, 1), self.projected(value, 2)
        if not batched:
            q, k, v = q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0)
        elif not self.batch_first:
            q, k, v = q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1)
        n, length, seen = q.shape[0], q.shape[1], k.shape[1]
        more = (self.bias_k is not None) + self.add_zero_attn
        q = q.reshape(n, length, self.num_heads, self.head_dim).transpose(1, 2)
        k, v = self.heads(k, self.bias_k), self.heads(v, self.bias_v)
        pairs = None
        if attn_mask is not None:
            shape = (n, self.num_heads, length, seen) if attn_mask.dim() == 3 else (1, 1, length, seen)
            pairs = self.masked(attn_mask, shape, more, q)
        keys = None if key_padding_mask is None else self.masked(key_padding_mask, (n, 1, 1, seen), more, q)
        if pairs is not None and keys is not None:
            mask = pairs + keys
        else:
            mask = keys if pairs is None else pairs
        scores = (q * (1 / math.sqrt(self.head_dim))) @ k.transpose(-1, -2)
        if mask is not None:
            scores = scores + mask
        shares = F.softmax(scores, -1)
        output = (shares @ v).transpose(1, 2).reshape(n, length, self.embed_dim)
        if not batched:
            output = output.squeeze(0)
        elif not self.batch_first:
            output = output.transpose(0, 1)
        output = self.out_proj(output)
        if not need_weights:
            return output, None
        weights = shares.mean(1) if average_attn_weights else shares
        return output, weights if batched else weights.squeeze(0)


def activation_of(activation):
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    if not callable(activation):
        raise RuntimeError(f"the activation of a transformer layer is 'relu', 'gelu' or a function, not '{activation}'")
    return activation


@names("torch.nn.TransformerEncoderLayer")
class TransformerEncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu", layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True,
                 device=None, dtype=None):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, dtype=dtype)
        self.linear1 = nn.Linear(d_model, dim_feedforward, bias=bias, dtype=dtype)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(dim_feedforward, d_model, bias=bias, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)
        self.activation = activation_of(activation)

    def attend(self, x, mask, padding):
        return self.dropout1(self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0])

    def feed(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        if self.norm_first:
            x = src + self.attend(self.norm1(src), src_mask, src_key_padding_mask)
            return x + self.feed(self.norm2(x))
        x = self.norm1(src + self.attend(src, src_mask, src_key_padding_mask))
        return self.norm2(x + self.feed(x))


@names("torch.nn.TransformerDecoderLayer")
class TransformerDecoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu", layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True,
                 device=None, dtype=None):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, dtype=dtype)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, dtype=dtype)
        self.linear1 = nn.Linear(d_model, dim_feedforward, bias=bias, dtype=dtype)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(dim_feedforward, d_model, bias=bias, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype)
        self.norm3 = nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)
        self.dropout3 = nn.Dropout(dropout)
        self.activation = activation_of(activation)

    def attend(self, x, mask, padding):
        return self.dropout1(self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0])

    def look(self, x, memory, mask, padding):
        return self.dropout2(self.multihead_attn(x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0])

    def feed(self, x):
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=False,
                memory_is_causal=False):
        if self.norm_first:
            x = tgt + self.attend(self.norm1(tgt), tgt_mask, tgt_key_padding_mask)
            x = x + self.look(self.norm2(x), memory, memory_mask, memory_key_padding_mask)
            return x + self.feed(self.norm3(x))
        x = self.norm1(tgt + self.attend(tgt, tgt_mask, tgt_key_padding_mask))
        x = self.norm2(x + self.look(x, memory, memory_mask, memory_key_padding_mask))
        return self.norm3(x + self.feed(x))


@names("torch.nn.TransformerEncoder")
class TransformerEncoder(nn.Module):
    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = nn.ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return x if self.norm is None else self.norm(x)


@names("torch.nn.TransformerDecoder")
class TransformerDecoder(nn.Module):
    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = nn.ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=None,
                memory_is_causal=False):
        x = tgt
        for layer in self.layers:
            x = layer(x, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                      memory_key_padding_mask=memory_key_padding_mask)
        return x if self.norm is None else self.norm(x)


@names("torch.nn.Transformer")
class Transformer(nn.Module):
    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1, activation="relu",
                 custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        self.encoder = custom_encoder
        self.decoder = custom_decoder
        if custom_encoder is None:
            layer = TransformerEncoderLayer(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, None, dtype)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype))
        if custom_decoder is None:
            layer = TransformerDecoderLayer(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, None, dtype)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype))
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        return torch.triu(torch.full((sz, sz), float("-inf"), dtype=dtype), 1)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None, memory_is_causal=False):
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask)


@names("torch.nn.MaxUnpool1d")
class MaxUnpool1d(nn.Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def forward(self, input, indices, output_size=None):
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


@names("torch.nn.MaxUnpool2d")
class MaxUnpool2d(MaxUnpool1d):
    def forward(self, input, indices, output_size=None):
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


@names("torch.nn.MaxUnpool3d")
class MaxUnpool3d(MaxUnpool1d):
    def forward(self, input, indices, output_size=None):
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


@names("torch.nn.TripletMarginWithDistanceLoss")
class TripletMarginWithDistanceLoss(nn.Module):
    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__()
        self.distance_function = distance_function
        self.margin = margin
        self.swap = swap
        self.reduction = reduction

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
                                                   reduction=self.reduction)
