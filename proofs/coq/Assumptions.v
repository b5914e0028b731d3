(* What the theorems take for granted: compared with axioms.txt, which lists the axioms of Coq's real numbers. *)
Require Import Entropy.
Print Assumptions decide_sound.
Print Assumptions impossible_sound.
Print Assumptions attains_all_sound.
