(* The checker in OCaml: integers as zarith's, lists, options, pairs and booleans as OCaml's, nat as it is. *)
Require Import ZArith.
Require Import Log Kernel Entropy Minorant Rows Labels Corners Designs Blocks Rays RayDesigns.
Require Import ExtrOcamlBasic ExtrOcamlZBigInt.
Extract Constant Z.log2 => "(fun x -> if Z.sign x <= 0 then Z.zero else Z.of_int (Z.numbits x - 1))".
Extract Constant Z.shiftl => "(fun x n -> let n = Z.to_int n in if n >= 0 then Z.shift_left x n else Z.shift_right x (- n))".
Extract Constant Z.shiftr => "(fun x n -> let n = Z.to_int n in if n >= 0 then Z.shift_right x n else Z.shift_left x (- n))".
Extract Constant Z.div => "(fun a b -> if Z.sign b = 0 then Z.zero else Z.fdiv a b)".
Extract Constant Z.modulo => "(fun a b -> if Z.sign b = 0 then a else Z.sub a (Z.mul b (Z.fdiv a b)))".
Extract Inlined Constant Z.add => "Big_int_Z.add_big_int".
Extract Inlined Constant Z.sub => "Big_int_Z.sub_big_int".
Extract Inlined Constant Z.mul => "Big_int_Z.mult_big_int".
Extract Inlined Constant Z.opp => "Big_int_Z.minus_big_int".
Extract Inlined Constant Z.eqb => "Big_int_Z.eq_big_int".
Extract Inlined Constant Z.leb => "Big_int_Z.le_big_int".
Extract Inlined Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Inlined Constant Z.max => "Big_int_Z.max_big_int".
Extract Inlined Constant Z.min => "Big_int_Z.min_big_int".
Extract Inlined Constant Z.gcd => "Big_int_Z.gcd_big_int".
Extract Inlined Constant Z.land => "Big_int_Z.and_big_int".
Transparent D nterms ln_red ln2.
Extraction "core.ml" proves denies displays reduce straight relax bare start emptied advance lab_start lab_advance mat_start mat_advance des_start des_advance blocks_start blocks_advance ray_start ray_advance known_limit rd_start rd_advance log.
