def reshape_and_cache(key: "fp16[T, H, D]", value: "fp16[T, H, D]", key_cache: "fp16[NB, 16, H, D]",
                      value_cache: "fp16[NB, 16, H, D]", slot_mapping: "int64[T]"):
    nb, bs, h, d = key_cache.shape
    key_cache.view(nb * bs, h, d)[slot_mapping] = key
    value_cache.view(nb * bs, h, d)[slot_mapping] = value
