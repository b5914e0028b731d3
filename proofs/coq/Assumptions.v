(* What the theorems take for granted: compared with axioms.txt, which lists the axioms of Coq's real numbers. *)
Require Import Minorant Labels.
Print Assumptions accepts_sound.
Print Assumptions excludes_sound.
Print Assumptions realises_sound.
Print Assumptions labelled_sound.
