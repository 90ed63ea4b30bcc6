def reshape_and_cache(key: "fp16[T, H, D]", key_cache: "fp16[NB, 16, H, D]", slot_mapping: "int64[T]"):
    block = slot_mapping // 16
    offset = slot_mapping % 16
    key_cache[block, offset] = key
