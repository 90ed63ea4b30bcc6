def sgd(p: "fp32[N]", g: "fp32[N]", m: "fp32[N]"):
    m.mul_(0.9).add_(g)
    p.sub_(0.01 * m)
