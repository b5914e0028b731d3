(* The integers of the extraction against Coq's: one function, computed by Coq (vm_compute) and by the extracted program. Its
   value is a sum over pseudo-random pairs of either sign of what division, remainder, shifts, log2, comparison, gcd and bits give. *)
Require Import ZArith.
Require Import Extract.
Open Scope Z_scope.

Definition low (bits s : Z) : Z := s - Z.shiftl (Z.shiftr s bits) bits.
Definition next (s : Z) : Z := low 64 (s * 6364136223846793005 + 1442695040888963407).
(* A number of up to 120 bits, of either sign. *)
Definition number (s t : Z) : Z := let n := Z.shiftr (s * t) (low 7 (Z.shiftr s 40) + 8) in if low 1 (Z.shiftr t 50) =? 0 then n else - n.
Definition one (a b n : Z) : Z :=
  Z.div a b + 3 * Z.modulo a b + 5 * Z.shiftl a n + 7 * Z.shiftr a n + 11 * Z.log2 a + (if a <=? b then 13 else 17) + 19 * Z.max a b + 23 * Z.min a (- b) + 29 * Z.gcd a b + 31 * Z.land a b.
Fixpoint trial (rounds : nat) (s sum : Z) : Z := match rounds with O => sum | S rounds =>
  let t := next s in let u := next t in let v := next u in
  trial rounds v (low 192 (31 * sum + one (number s t) (number u v) (low 7 (Z.shiftr v 30) - 64))) end.
Definition rounds : nat := Z.to_nat 100000.
Eval vm_compute in trial rounds 1 0.
Extraction "trial.ml" trial rounds.
