"""Fragments of launchers for host_code_test.py, each with the launches in it.

A row: name, declarations in front of the launcher, body. The launch is k<<<grid, block>>>(x, y, N, m) with `long long m`;
LAUNCH stands for the usual one. Names that begin with "plain" are everyday code: these must be imported.
"""
L = "k<<<(N + 255) / 256, 256>>>(x, y, N, m);"


def numbers(*bodies):
    """Rows whose body computes m."""
    return [(name, "", text + " " + L) for name, text in bodies]


TYPES = ["bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long long", "size_t",
         "int8_t", "uint16_t", "uint32_t", "int64_t", "std::uint8_t"]
CASTS = [(f"cast {type_}", "", f"auto v = ({type_})(N * 3 - 7); long long m = v; {L}") for type_ in TYPES]
INITIALISED = [(f"value of {type_}", "", f"{type_} v = N; long long m = v + v; {L}") for type_ in TYPES]
CONSTANTS = [(f"constant of {type_}", "", f"{type_} v = ({type_})300; v -= 45; ++v; long long m = v; {L}") for type_ in TYPES[1:]]
MIXED = [(f"{left} {op} {right}", "", f"{left} a = ({left})(N % 5); {right} b = ({right})(N % 11); long long m = a {op} b; {L}")
         for left, right in (("int", "unsigned"), ("unsigned", "long long"), ("unsigned char", "size_t"), ("short", "int"))
         for op in ("+", "-", "*", "<", ">=", "==", "&", "<< 3 +")]
COMPARED = [(f"constants {left} {op} {right}", "", f"long long m = {left} {op} {right}; {L}")
            for left, right in (("-1", "1u"), ("0xffffffff", "1"), ("-7", "2"), ("2147483647u", "-2"), ("'a'", "3"))
            for op in ("<", "+", "/", "%", ">>", "*")]

INTEGERS = numbers(
    ("negative shift", "int a = N - 5000; long long m = a >> 3;"), ("negative mask", "int a = N - 5000; long long m = a & 7;"),
    ("negative rest", "int a = N - 5000; long long m = a % 8;"), ("negative quotient", "int a = N - 5000; long long m = a / 8;"),
    ("wrapping difference", "size_t a = N; long long m = a - sizeof(double) * 40 > 3000000000u;"),
    ("square", "unsigned u = N; long long m = u * u / (u + 1);"), ("cube", "int s = N; long long m = (long long)s * s % 1001;"),
    ("minus one", "long long m = -1u;"), ("mixed choice", "long long m = N > 0 ? -3 : 3u;"), ("mixed constant choice", "long long m = true ? -1 : 1u;"),
    ("mixed variable choice", "int a = -4; unsigned b = 6; long long m = N % 2 ? a : b;"), ("beyond a word", "long long m = 0xffffffff + 2;"),
    ("beyond a signed word", "long long m = 0x80000000 >> 4;"), ("beyond a word by the shape", "long long m = 0xffffffff + N % 2;"), ("octal", "long long m = 017 + 0b101 + 1'000;"),
    ("narrow compound", "unsigned char c = 200; c += 100; long long m = c;"), ("narrow increment", "unsigned char c = 255; c++; long long m = c;"),
    ("narrow of shape", "short s = N; long long m = s;"), ("narrow shift", "unsigned char c = 0xf0; c <<= 2; long long m = c;"),
    ("decrement", "unsigned u = 0; u--; long long m = u;"), ("comma", "int a = 1; long long m = (a = 300, (unsigned char)a);"),
    ("chained", "signed char c; int a = c = 200; long long m = a;"), ("chained unsigned", "unsigned u; long long a = u = -2; long long m = a;"),
    ("truth", "bool b = N; long long m = b + b;"), ("truth of rest", "bool b = N % 4; long long m = 10 * b;"), ("not", "long long m = !N + !!N * 2;"),
    ("wide shift", "long long m = 1 << 31;"), ("long shift", "long long m = 1ll << 40;"), ("inverted", "long long m = ~N;"),
    ("inverted unsigned", "unsigned u = N; long long m = ~u;"), ("round up by mask", "long long m = (N + 63) & ~63;"),
    ("round up by minus", "long long m = (N + 63) & -64;"), ("xor", "int a = 12; a ^= 5; long long m = a;"), ("minimum of kinds", "long long m = std::min<unsigned>(-1, 7);"),
    ("maximum of kinds", "long long m = std::max<size_t>(3, N);"), ("least", "long long m = std::min(N, 100) - std::max(N % 7, 3);"),
    ("size", "long long m = sizeof(short) - 3;"), ("size compared", "int a = -1; long long m = a < sizeof(a);"), ("character", "long long m = 3 + 'a';"),
    ("functional", "long long m = int(3.9) + (unsigned char)(258) + unsigned(7);"), ("static_cast", "long long m = static_cast<signed char>(200);"),
    ("half of it", "unsigned rest = N - N / 2; long long m = rest;"), ("rest of it", "size_t n = N; size_t rest = n - n % 32; long long m = rest;"),
    ("behind a test", "if (N < 100) return; size_t more = N - 100; long long m = more / 3;"),
    ("in a branch", "long long m = 0; if (N >= 300) { unsigned more = N - 300; m = more * 2u; }"),
    ("in a choice", "long long m = N >= 256 ? (size_t)N - 256 : 5;"), ("beside a test", "size_t n = N; long long m = N >= 64 && n - 64 < 100;"),
    ("loop of bytes", "int c = 0; for (unsigned char i = 250; i != 3 && c < 40; ++i) c++; long long m = c;"),
    ("loop down", "int c = 0; for (unsigned i = 3; i < 4; --i) c += 2; long long m = c;"), ("array", "int a[3] = {1, 2, 3}; long long m = a[N % 3];"),
    ("list", "long long m = std::max({1, N, 3});"), ("alternative words", "long long m = (N > 3 and N < 100) ? 1 : 2;"))

HELPERS = [
    ("parameter of a byte", "int take(unsigned char v) { return v; }", f"long long m = take(N); {L}"),
    ("parameter of a constant", "int take(unsigned char v) { return v; }", f"long long m = take(513); {L}"),
    ("result of a byte", "unsigned char give(int v) { return v; }", f"long long m = give(700); {L}"),
    ("result of a shape", "static inline short give(int v) { return v; }", f"long long m = give(N); {L}"),
    ("unsigned parameter", "int less(unsigned a, unsigned b) { return a < b; }", f"long long m = less(-1, 5); {L}"),
    ("template number", "template <unsigned char V> int give() { return V + 1; }", f"long long m = give<255>(); {L}"),
    ("template type", "template <typename T> int take(T v) { T w = v; w += 200; return w; }", f"long long m = take<signed char>(100); {L}"),
    ("deduced type", "template <typename T> int take(T v) { return v - 2 > 0; }", f"long long m = take(1u); {L}"),
    ("default argument", "int take(int a, int b = -3) { return a + b; }", f"long long m = take(N) + take(1, 2); {L}"),
    ("default of a byte", "int take(int a, unsigned char b = 258) { return a + b; }", f"long long m = take(N % 5); {L}"),
    ("lambda parameter", "", f"auto f = [](unsigned char v) {{ return v + 0; }}; long long m = f(300); {L}"),
    ("lambda result", "", f"auto f = [](int v) -> unsigned char {{ return v; }}; long long m = f(300); {L}"),
    ("lambda scope", "", f"int a = 2; auto f = [&] {{ return a; }}; long long m; {{ int a = 9; m = f() + 0 * a; }} {L}"),
    ("lambda elsewhere", "template <typename F> int call(F f, int a) { return f() + a; }",
     f"int a = 5; auto f = [&] {{ return a; }}; long long m = call(f, 100); {L}"),
    ("alias", "typedef short number_t;", f"number_t v = 70000; long long m = v; {L}"),
    ("alias of shape", "using tiny = unsigned char;", f"tiny v = N; long long m = v; {L}"),
    ("local alias", "", f"typedef signed char tiny; tiny v = 200; long long m = v; {L}"),
    ("aliases of one name", "namespace a { using T = short; } namespace b { using T = long; }", f"b::T v = 70000; long long m = v; {L}"),
    ("enumeration", "enum Way { kOne = 1, kBig = kOne << 4, kNext };", f"long long m = kBig * 100 + kNext; {L}"),
    ("enumeration of bytes", "enum Way : unsigned char { kOne = 250 };", f"long long m = kOne + 10; {L}"),
    ("enumeration without sign", "enum Way { kOne = 1, kAll = ~0u };", f"long long m = kOne - 2; {L}"),
    ("macro of a type", "#define small unsigned char", f"small v = 300; long long m = v; {L}"),
    ("macro of a word", "#define short unsigned char", f"short v = 300; long long m = v; {L}"),
    ("constants of one name", "namespace a { const int q = 3; } namespace b { const int q = 4; }", f"long long m = b::q; {L}"),
    ("global of a byte", "const unsigned char kByte = 300;", f"long long m = kByte; {L}"),
    ("constexpr", "constexpr unsigned kAll = 0 - 1u;", f"long long m = kAll; {L}"),
    ("own minimum", "int min(int a, int b) { return a < b ? b : a; }", f"long long m = min(N % 9, 4); {L}"),
    ("structure", "struct Two { int a = 3; unsigned char b; };", f"Two t; t.b = 300; long long m = t.a + t.b; {L}"),
    ("own name of a parameter", "int take(int N) { int m = N; { int N = 4; m += N; } return m; }", f"long long m = take(N % 7); {L}"),
    ("recursion", "int down(int n) { return n <= 1 ? 1 : n * down(n - 1); }", f"long long m = down(6); {L}"),
]

REFERENCES = [
    ("reference written", "", f"long long m = 2; long long& r = m; r = 7; {L}"),
    ("reference read later", "", f"int a = 2; const int& r = a; a = 7; long long m = r; {L}"),
    ("auto reference", "", f"int a = 2; auto& r = a; a = 9; long long m = r; {L}"),
    ("reference of another type", "", f"int a = 2; const long long& r = a; a = 9; long long m = r; {L}"),
    ("moved reference", "", f"int a = 2; int&& r = std::move(a); r = 5; long long m = a; {L}"),
    ("cast to a reference", "", f"int a = 2; int&& r = (int&&)a; r = 5; long long m = a; {L}"),
    ("static_cast to a reference", "", f"int a = 2; static_cast<int&>(a) = 5; long long m = a; {L}"),
    ("second declarator", "", f"int a = 2; int &r = a, s = 4; s = 9; r = s + 1; long long m = a; {L}"),
    ("captured reference", "", f"int a = 2; auto f = [&r = a] {{ r = 5; }}; f(); long long m = a; {L}"),
    ("captured value", "", f"int a = 2; auto f = [b = a + 1] {{ return b; }}; a = 9; long long m = f(); {L}"),
    ("returned reference", "int& same(int& v) { return v; }", f"int a = 2; same(a) = 6; long long m = a; {L}"),
    ("reference parameter", "void set(int& v) { v = N_; }".replace("N_", "8"), f"int a = 2; set(a); long long m = a; {L}"),
    ("one variable twice", "void both(int& p, int& q) { p = 1; q += p * 10; }", f"int a = 2; both(a, a); long long m = a; {L}"),
    ("lambda reference", "", f"int a = 2; auto f = [&](int& r) {{ r = a + 5; }}; f(a); long long m = a; {L}"),
    ("pointer", "", f"int a = 2; int* p = &a; *p = 5; long long m = a; {L}"),
    ("pointer moved", "", f"int a = 2, b = 3; int* p = &a; p = &b; *p = 9; long long m = a * 100 + b; {L}"),
    ("pointer to pointer", "", f"int a = 2; int* p = &a; int** q = &p; **q = 9; long long m = a; {L}"),
    ("pointer changed", "", f"int a = 2, b = 3; int* p = &a; int** q = &p; *q = &b; *p = 7; long long m = a + 10 * b; {L}"),
    ("bytes of a number", "", f"int a = 2; *reinterpret_cast<unsigned char*>(&a) = 300; long long m = a; {L}"),
    ("half of a number", "", f"int a = 0x10002; short* half = (short*)&a; long long m = *half; {L}"),
    ("pointer to nothing", "", f"int a = 2; void* v = &a; *(int*)v = 7; long long m = a; {L}"),
    ("chosen variable", "", f"int a = 2, b = 3; (N > 0 ? a : b) = 8; long long m = a; {L}"),
    ("least reference", "", f"int a = 2, b = 3; const int& r = std::min(a, b); a = 1; long long m = r; {L}"),
    ("dim3 reference", "", "dim3 g((N + 255) / 256), &h = g; h.x = 3; long long m = 1; k<<<g, 256>>>(x, y, N, m);"),
    ("assigned twice", "", f"int a = 1, b = 2; (a = b) = 5; long long m = a * 10 + b; {L}"),
    ("swapped", "", f"int a = 2, b = 3; std::swap(a, b); long long m = a * 10 + b; {L}"),
    ("both operands", "int up(int& v) { return v++; }", f"int a = 5; long long m = up(a) + a * 10; {L}"),
    ("twice in arguments", "int sub(int a, int b) { return a - b; }", f"int a = 5; long long m = sub(a, ++a); {L}"),
    ("compound of itself", "int up(int& v) { return ++v; }", f"int a = 5; a += up(a); long long m = a; {L}"),
    ("not evaluated", "", f"int a = 2; long long m = sizeof(a++) + a; {L}"),
]

LOOPS = [(f"loop {i}", "", head + " k<<<1, 32>>>(x, y, N, i);") for i, head in enumerate([
    "for (int i = 0; i < 2 && i < N; ++i)", "for (int i = 0; i < N && i < 2; ++i)", "for (int i = 0; i < N % 50 || i < 2; ++i)",
    "for (int i = 0; i < N % 50 && N > 100; ++i)", "for (int i = 0; i < (N % 50 < 2); ++i)",
    "for (int i = 0; i < N % 4 ? i < 2 : 0; i++)", "for (int i = 0; i < N % 8 & 3; i++)", "for (char i = 0; i < N % 100; i++)",
    "for (unsigned char i = 250; i < N % 255; i++)", "for (unsigned i = 0; i < N - 3u && i < 2; ++i)", "for (int i = 0; i < N % 9 - i; ++i)",
    "for (int i = 0; i < N % 4, i < 3; ++i)", "for (int i = N % 4; i > 0; --i)", "for (int i = 0; i != N % 4; i++)",
    "for (int i = 0; N % 4 > i; i++)", "for (long long i = 0; i < (N % 7) << 1; i++)"])]
LOOPS += [
    ("loop that ends", "", "for (int i = 0; i < N % 4; ++i) { k<<<1, 32>>>(x, y, N, i); break; }"),
    ("loop that returns", "", "for (int i = 0; i < N % 4; ++i) { k<<<1, 32>>>(x, y, N, i); if (i == 1) return; }"),
    ("loop that skips", "", "for (int i = 0; i < N % 4; ++i) { if (i == 1) continue; k<<<1, 32>>>(x, y, N, i); }"),
    ("loop of two steps", "", "for (int i = 0; i < N % 4; ++i) { k<<<1, 32>>>(x, y, N, i); i++; }"),
    ("loop through a reference", "", "int a = 0; for (int& i = a; i < N % 4; ++i) k<<<1, 32>>>(x, y, N, i); k<<<1, 32>>>(x, y, N, a + 70);"),
    ("loop with its own name", "", "int q = 9; for (int i = 0; i < N % 4; i++) { int q = i; k<<<1, 32>>>(x, y, N, q); } k<<<1, 32>>>(x, y, N, q);"),
    ("loop of known turns", "", f"long long m = 1; for (int i = 0; i < 10; ++i) {{ if (i == 3) continue; if (i == 6) break; m += i; }} {L}"),
    ("loop of two", "", f"long long m = 1; for (int i = 0, j = 10; i < j; ++i, --j) m += j; {L}"),
]

SWITCHES = [
    ("case in an if", "", f"long long m = 7; switch (2) {{ case 1: if (N > 0) {{ case 2: m = 4; }} m += 1; }} {L}"),
    ("case in a block", "", f"long long m = 7; switch (2) {{ case 1: m = 3; {{ case 2: m = 4; }} }} {L}"),
    ("case behind an if", "", f"long long m = 7; switch (2) {{ case 1: if (N > 0) case 2: m = 4; m += 1; }} {L}"),
    ("default in a loop", "", f"long long m = 0; int i = 0; switch (5) {{ case 1: for (i = 0; i < 2; ++i) {{ default: m++; }} }} {L}"),
    ("fall through", "", f"long long m = 0; switch (N % 4) {{ default: m += 8; case 0: m += 1; case 1: m += 2; break; case 3: m += 4; }} {L}"),
    ("switch of a byte", "", f"long long m = 0; switch ((unsigned char)300) {{ case 44: m = 1; break; default: m = 2; }} {L}"),
    ("switch in a switch", "", f"long long m = 0; switch (N % 2) {{ case 0: switch (N % 3) {{ case 0: m = 1; break; default: m = 2; }} break; default: m = 5; }} {L}"),
    ("switch with a break", "", f"long long m = 0; switch (N % 3) {{ case 0: for (int i = 0; i < 3; ++i) {{ if (i == 1) break; m++; }} m += 10; break; default: m = 4; }} {L}"),
    ("jump", "", f"long long m = 2; goto there; m = 3; there: {L}"),
]

FLOATS = numbers(
    ("sum of floats", "long long m = 0.1f + 0.2f == 0.3f;"), ("sum of doubles", "long long m = 0.1 + 0.2 == 0.3;"),
    ("float and double", "float f = 0.1; long long m = f == 0.1;"), ("large float", "float f = 16777217; long long m = f;"),
    ("third", "long long m = 1.0f / 3 * 3 == 1.0f;"), ("float of shape", "float f = N; long long m = f == N + 1;"),
    ("float compared", "long long m = (float)N > 16777216.0f;"), ("ceil of float", "long long m = ceil((float)N / 256);"),
    ("ceil of thirds", "long long m = ceilf(N / 3.0f);"), ("ceil of double", "long long m = (long long)std::ceil(N / 100.0);"),
    ("ceil of integers", "long long m = ceil(N / 256);"), ("ceil of product", "long long m = ceilf(N * (1.0f / 256));"),
    ("floor", "long long m = floor(N / 10.0);"), ("truncated", "long long m = (int)(N / 10.0f);"), ("product", "long long m = (int)(N * 0.1);"),
    ("rounded", "long long m = (int)(N / 256.0f + 0.5f);"), ("root", "long long m = sqrtf(N);"), ("negative quotient of floats", "long long m = floor((N - 5000) / 8.0);"),
    ("compound by float", "int a = 7; a *= 1.5; long long m = a;"), ("choice of floats", "long long m = (N > 3 ? 0.1f : 0.1) == 0.1;"),
    ("cast down", "long long m = (float)0.1 == 0.1f;"), ("float of a large constant", "long long m = (long long)(float)123456789;"),
    ("double of float", "double d = 0.1f; long long m = d > 0.1;"), ("zero", "long long m = 0.0f == -0.0f;"), ("float condition", "long long m = 0.5f ? 3 : 4;"))

CAUGHT = [
    ("caught", "int f(int n) { if (n > 1000) throw 3; return 0; }", f"long long m = 0; try {{ m = f(N); }} catch (int) {{ m = 1; }} {L}"),
    ("caught here", "", f"long long m = 0; try {{ if (N > 1000) throw 3; m = 5; }} catch (...) {{ m = 1; }} {L}"),
    ("caught with launches", "", "try { if (N > 1000) throw 3; k<<<1, 32>>>(x, y, N, 5); } catch (...) { k<<<2, 32>>>(x, y, N, 6); }"),
    ("nothing caught", "", f"long long m = 3; try {{ m = 4; }} catch (...) {{ throw; }} {L}"),
]

PLAIN = [
    ("plain blocks", "", "k<<<(N + 255) / 256, 256>>>(x, y, N, 2);"),
    ("plain unsigned", "", "unsigned blocks = (N + 127u) / 128u; k<<<blocks, 128>>>(x, y, N, blocks);"),
    ("plain size_t", "", "size_t n = N; size_t bytes = n * sizeof(float); k<<<(n + 255) / 256, 256>>>(x, y, N, bytes);"),
    ("plain product", "", "int n = N * 3; k<<<(n + 255) / 256, 256>>>(x, y, N, n);"),
    ("plain cast", "", "size_t total = (size_t)N * 4; int n = (int)total; k<<<(unsigned)((total + 255) / 256), 256>>>(x, y, N, n);"),
    ("plain function", "static inline int ceil_of(int a, int b) { return (a + b - 1) / b; }", "k<<<ceil_of(N, 256), 256>>>(x, y, N, 1);"),
    ("plain minimum", "", "int blocks = std::min((N + 255) / 256, 1024); k<<<blocks, 256>>>(x, y, N, blocks);"),
    ("plain minus one", "", "unsigned n = N; k<<<(n - 1) / 256 + 1, 256>>>(x, y, N, 3);"),
    ("plain choice", "", "int t = N > 1024 ? 256 : 64; k<<<(N + t - 1) / t, t>>>(x, y, N, t);"),
    ("plain mask", "", "int n = (N + 31) & ~31; k<<<n / 32, 32>>>(x, y, N, N & 31);"),
    ("plain shift", "", "int n = N >> 2; k<<<(n + 1 + 63) >> 6, 64>>>(x, y, N, n << 1);"),
    ("plain ceil", "", "int n = (int)ceil(N / 256.0); k<<<n, 256>>>(x, y, N, n);"),
    ("plain float ceil", "", "int n = ceilf((float)N / 256.0f); k<<<n, 256>>>(x, y, N, n);"),
    ("plain loop", "", "for (int i = 0; i < N % 5; ++i) k<<<1, 32>>>(x, y, N, i);"),
    ("plain loop up to", "", "for (int i = 1; i <= N % 5; i++) { k<<<1, 32>>>(x, y, N, i); }"),
    ("plain loop of size_t", "", "size_t n = N % 6; for (size_t i = 0; i < n; ++i) k<<<1, 32>>>(x, y, N, i);"),
    ("plain dim3", "", "dim3 block(32, 2), grid((N + 31) / 32); grid.x = grid.x + 1; k<<<grid, block>>>(x, y, N, block.y);"),
    ("plain branch", "", "int t = 128; if (N > 512) t = 512; else if (N > 256) t = 256; k<<<(N + t - 1) / t, t>>>(x, y, N, t);"),
    ("plain return", "", "if (N <= 0) return; k<<<(N + 255) / 256, 256>>>(x, y, N, 4);"),
    ("plain constants", "constexpr int kBlock = 1 << 7;\n#define UP(a, b) (((a) + (b) - 1) / (b))", "k<<<UP(N, kBlock), kBlock>>>(x, y, N, kBlock);"),
    ("plain template", "template <int T> void go(const float* x, float* y, int N) { k<<<(N + T - 1) / T, T>>>(x, y, N, T); }", "go<64>(x, y, N);"),
    ("plain reference parameter", "void fill(dim3& g, int n) { g.x = (n + 63) / 64; }", "dim3 g; fill(g, N); k<<<g, 64>>>(x, y, N, 1);"),
    ("plain const reference", "int half_of(const int& n) { return n / 2; }", "k<<<half_of(N) + 1, 64>>>(x, y, N, half_of(N));"),
    ("plain switch", "", "int t; switch (N % 3) { case 0: t = 64; break; case 1: t = 128; break; default: t = 256; } k<<<(N + t - 1) / t, t>>>(x, y, N, t);"),
]
MUST_IMPORT = {name for name, _, _ in PLAIN}

ROWS = (CASTS + INITIALISED + CONSTANTS + MIXED + COMPARED + INTEGERS + HELPERS + REFERENCES + LOOPS + SWITCHES + FLOATS + CAUGHT + PLAIN)
