(* What the theorems take for granted: compared with axioms.txt, which lists the axioms of Coq's real numbers. *)
Require Import Rows Labels Corners Designs Blocks Rays RayDesigns.
Print Assumptions proves_sound.
Print Assumptions denies_sound.
Print Assumptions displays_sound.
Print Assumptions charted_sound.
Print Assumptions cornered_sound.
Print Assumptions designed_sound.
Print Assumptions blocks_sound.
Print Assumptions rays_sound.
Print Assumptions ray_designed_sound.
