def window_partition(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, window_size * window_size, C)


def window_attention_input(x: "fp16[B, H, W, C]", scale: "fp16[C]"):
    return window_partition(x, 7) * scale
