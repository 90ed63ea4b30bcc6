# options: --input x:fp32[N,8] --dims N=3
import torch.nn as nn

REFERENCE = nn.Sequential(nn.Linear(8, 4), nn.Tanh())
