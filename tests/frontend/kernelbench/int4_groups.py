import torch


def int4_matmul(x: "fp16[M, K]", qweight: "int32[K // 8, N]", scales: "fp16[K // 128, N]",
                qzeros: "int32[K // 128, N // 8]"):
    shifts = torch.arange(0, 32, 4, device=x.device, dtype=torch.int32)
    w = (qweight.unsqueeze(1) >> shifts.view(1, 8, 1)) & 0xF
    w = w.reshape(-1, qweight.shape[1])
    z = (qzeros.unsqueeze(2) >> shifts.view(1, 1, 8)) & 0xF
    z = z.reshape(qzeros.shape[0], -1) + 1
    k = w.shape[0]
    g = torch.arange(k, device=x.device) // 128
    wf = scales[g] * (w - z[g]).to(x.dtype)
    return x @ wf
