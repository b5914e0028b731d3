// The functions of zarith that the checker needs, on BigInt, for js_of_ocaml. A number that fits 32 bits is a number.

//Provides: z_small
function z_small(a) { var n = Number(BigInt.asIntN(32, a)); return BigInt(n) === a ? n : a }
//Provides: ml_z_init
function ml_z_init() { return 0 }
//Provides: ml_z_add
//Requires: z_small
function ml_z_add(a, b) { return z_small(BigInt(a) + BigInt(b)) }
//Provides: ml_z_sub
//Requires: z_small
function ml_z_sub(a, b) { return z_small(BigInt(a) - BigInt(b)) }
//Provides: ml_z_mul
//Requires: z_small
function ml_z_mul(a, b) { return z_small(BigInt(a) * BigInt(b)) }
//Provides: ml_z_mul_overflows
function ml_z_mul_overflows(a, b) { var n = a * b; return n === (n | 0) ? 0 : 1 }
//Provides: ml_z_neg
//Requires: z_small
function ml_z_neg(a) { return z_small(-BigInt(a)) }
//Provides: ml_z_succ
//Requires: z_small
function ml_z_succ(a) { return z_small(BigInt(a) + BigInt(1)) }
//Provides: ml_z_pred
//Requires: z_small
function ml_z_pred(a) { return z_small(BigInt(a) - BigInt(1)) }
//Provides: ml_z_compare
function ml_z_compare(a, b) { a = BigInt(a); b = BigInt(b); return a < b ? -1 : a > b ? 1 : 0 }
//Provides: ml_z_equal
function ml_z_equal(a, b) { return BigInt(a) === BigInt(b) ? 1 : 0 }
//Provides: ml_z_sign
function ml_z_sign(a) { return a < 0 ? -1 : a > 0 ? 1 : 0 }
//Provides: ml_z_div_rem
//Requires: z_small, caml_raise_zero_divide
function ml_z_div_rem(a, b) {
  a = BigInt(a); b = BigInt(b);
  if (b == 0) caml_raise_zero_divide();
  return [0, z_small(a / b), z_small(a % b)]
}
//Provides: ml_z_fdiv
//Requires: z_small, caml_raise_zero_divide
function ml_z_fdiv(a, b) {
  a = BigInt(a); b = BigInt(b);
  if (b == 0) caml_raise_zero_divide();
  var q = a / b;
  return z_small(a % b != 0 && (a < 0) != (b < 0) ? q - BigInt(1) : q)
}
//Provides: ml_z_shift_left
//Requires: z_small
function ml_z_shift_left(a, n) { return z_small(BigInt(a) << BigInt(n)) }
//Provides: ml_z_shift_right
//Requires: z_small
function ml_z_shift_right(a, n) { return z_small(BigInt(a) >> BigInt(n)) }
//Provides: ml_z_gcd
//Requires: z_small
function ml_z_gcd(a, b) {
  a = BigInt(a); b = BigInt(b);
  while (b != 0) [a, b] = [b, a % b];
  return z_small(a < 0 ? -a : a)
}
//Provides: ml_z_logand
//Requires: z_small
function ml_z_logand(a, b) { return z_small(BigInt(a) & BigInt(b)) }
//Provides: ml_z_testbit
function ml_z_testbit(a, n) { return Number((BigInt(a) >> BigInt(n)) & BigInt(1)) }
//Provides: ml_z_numbits
function ml_z_numbits(a) {
  a = BigInt(a); if (a < 0) a = -a;
  if (a == 0) return 0;
  var s = a.toString(16); return 4 * (s.length - 1) + 32 - Math.clz32(parseInt(s[0], 16))
}
//Provides: ml_z_root
//Requires: z_small
function ml_z_root(a, n) {            // the largest x with x^n <= a, bit by bit
  a = BigInt(a); var one = BigInt(1), x = BigInt(0);
  for (var bit = BigInt(Math.ceil(a.toString(2).length / n)); bit >= 0; bit -= one) {
    var y = x + (one << bit), power = one;
    for (var i = 0; i < n; i++) power *= y;
    if (power <= a) x = y
  }
  return z_small(x)
}
//Provides: ml_z_sqrt
//Requires: ml_z_root
function ml_z_sqrt(a) { return ml_z_root(a, 2) }
//Provides: ml_z_to_int
function ml_z_to_int(a) { return Number(BigInt.asIntN(32, BigInt(a))) }
//Provides: ml_z_format
//Requires: caml_string_of_jsbytes
function ml_z_format(f, a) { return caml_string_of_jsbytes(BigInt(a).toString()) }
//Provides: ml_z_of_substring_base
//Requires: z_small, caml_jsbytes_of_string
function ml_z_of_substring_base(base, s, at, n) {
  s = caml_jsbytes_of_string(s).substr(at, n);
  return z_small(s[0] === "-" ? -BigInt(s.substr(1)) : BigInt(s))
}
