// Integers are finite.

bool isnan_i32(int a) { return false; }
bool isnan_u32(uint a) { return false; }
bool isnan_i64(int64_t a) { return false; }
bool isnan_u64(uint64_t a) { return false; }
bool isinf_i32(int a) { return false; }
bool isinf_u32(uint a) { return false; }
bool isinf_i64(int64_t a) { return false; }
bool isinf_u64(uint64_t a) { return false; }
bool isfinite_i32(int a) { return true; }
bool isfinite_u32(uint a) { return true; }
bool isfinite_i64(int64_t a) { return true; }
bool isfinite_u64(uint64_t a) { return true; }
