def integers(x: "int32[N]", y: "int32[N]"):
    return (x // 3) ^ y, x % 7
