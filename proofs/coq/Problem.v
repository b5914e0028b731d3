(* What is claimed: problems, mechanisms and what a mechanism is worth. This file is what a reader has to read. *)
Require Import Reals ZArith List.
Import ListNotations.
Open Scope R_scope.

(* A ratio of two entries of a column: exp (a / b), or a / b itself. *)
Inductive ratio := Exp (a b : Z) | Frac (a b : Z).
Definition ratioR r := match r with Exp a b => exp (IZR a / IZR b) | Frac a b => IZR a / IZR b end.

(* Robust: what a distribution within each block of inputs gives a column, for all distributions that give each input x at least lower_x / den. *)
Inductive cone := Free | Complete (r : ratio) | Graph (edges : list (Z * Z * ratio)) | Robust (r : ratio) (den : Z) (lower : list Z) (sets : list (list Z)).

(* Terms (x, y, c) stand for the sum of c times the probability of output y given input x. *)
Definition terms := list (Z * Z * Z).
Record row := Row { equal : bool; right : Z; coefficients : terms }.

Inductive utility :=
  | Linear (den : Z) (cost : terms)             (* the terms over den *)
  | Bayes (den : Z) (gains : list (list Z))     (* sum over outputs of the best action's gain at the prior *)
  | Information (groups : list (list Z))        (* groups z of joint weights of input and z: I(input; output | z), nats *)
  | ChiSquare.                                  (* sum over outputs of (sum_x p_x q_x^2) / w - w with w = p.q *)

Record problem := Problem {
  weights : list Z;                (* the prior is weights over their sum *)
  objective : utility;
  base : cone;
  halfspaces : list (list Z);      (* c with c.q <= 0 for every column q *)
  outputs : option Z;              (* how many columns a mechanism has; None: any number *)
  rows : list row }.

Fixpoint zsum (l : list Z) : Z := match l with [] => 0%Z | c :: l => (c + zsum l)%Z end.
Fixpoint dot (c : list Z) (v : list R) : R :=
  match c, v with a :: c, y :: v => IZR a * y + dot c v | _, _ => 0 end.
Fixpoint total {A} (f : A -> R) (l : list A) : R := match l with [] => 0 | a :: l => f a + total f l end.
Definition entry (x : Z) (q : list R) := nth (Z.to_nat x) q 0.
Definition cell (Q : list (list R)) (x y : Z) := entry x (nth (Z.to_nat y) Q []).
Definition form (ts : terms) Q := total (fun t => match t with (x, y, c) => IZR c * cell Q x y end) ts.

(* What the distribution within a block that has the rest besides at an input with entry y gives a column. *)
Definition least_share den (lower : list Z) x := IZR (nth (Z.to_nat x) lower 0%Z) / IZR den.
Definition given_by den lower block y q := (1 - total (least_share den lower) block) * y + total (fun x => least_share den lower x * entry x q) block.
(* A mechanism is the list of its columns: column y has the probability of output y given each input. *)
Definition in_cone (k : nat) c (q : list R) := match c with
  | Free => True
  | Complete r => forall x z, (x < k)%nat -> (z < k)%nat -> x <> z -> nth x q 0 <= ratioR r * nth z q 0
  | Graph edges => forall x z r, In (x, z, r) edges -> entry x q <= ratioR r * entry z q
  | Robust r den lower sets => forall s t b1 b2 x z, nth_error sets s = Some b1 -> nth_error sets t = Some b2 -> s <> t -> In x b1 -> In z b2 ->
      given_by den lower b1 (entry x q) q <= ratioR r * given_by den lower b2 (entry z q) q end.
Fixpoint plus (a b : list R) := match a, b with x :: a, y :: b => (x + y) :: plus a b | _, _ => [] end.
Fixpoint colsum (k : nat) (Q : list (list R)) := match Q with [] => repeat 0 k | q :: Q => plus q (colsum k Q) end.
Definition column pb (q : list R) := length q = length (weights pb) /\ Forall (Rle 0) q /\
  in_cone (length (weights pb)) (base pb) q /\ Forall (fun c => dot c q <= 0) (halfspaces pb).
Definition holds Q r := if equal r then form (coefficients r) Q = IZR (right r) else form (coefficients r) Q <= IZR (right r).
Definition mechanism pb Q := Forall (column pb) Q /\ colsum (length (weights pb)) Q = repeat 1 (length (weights pb)) /\
  match outputs pb with Some m => Z.of_nat (length Q) = m | None => True end /\ Forall (holds Q) (rows pb).

(* sum over x of G_x q_x ln (q_x / w), 0 ln 0 = 0 *)
Fixpoint relative (G : list Z) (w : R) (q : list R) :=
  match G, q with g :: G, y :: q => IZR g * (y * ln (y / w)) + relative G w q | _, _ => 0 end.
Fixpoint squares (W : list Z) (q : list R) :=
  match W, q with w :: W, y :: q => IZR w * (y * y) + squares W q | _, _ => 0 end.
Fixpoint products (W g : list Z) := match W, g with w :: W, a :: g => (w * a)%Z :: products W g | _, _ => [] end.
Fixpoint best (l : list R) := match l with [] => 0 | [a] => a | a :: l => Rmax a (best l) end.
Definition information groups q := total (fun G => relative G (dot G q / IZR (zsum G)) q) groups.
Definition chi_square W q := let T := IZR (zsum W) in let w := dot W q / T in squares W q / w - T * w.

Definition worth pb Q := let W := weights pb in let T := IZR (zsum W) in match objective pb with
  | Linear den cost => form cost Q / IZR den
  | Bayes den gains => total (fun q => best (map (fun g => dot (products W g) q) gains)) Q / (T * IZR den)
  | Information groups => total (information groups) Q / T
  | ChiSquare => total (chi_square W) Q / T end.

(* ---- entropies of rows ---- *)
(* sum over x of s_x H(Q_x), in nats; sum over x of s_x ln n_x *)
Definition entropy (s : list Z) Q := - total (relative s 1) Q.
Fixpoint logs (s n : list Z) := match s, n with a :: s, m :: n => IZR a * ln (IZR m) + logs s n | _, _ => 0 end.
(* A floor a / b: sum s_x H(Q_x) is at least that part of sum s_x ln n_x. *)
Record floor := Floor { part : Z * Z; shares : list Z; sizes : list Z }.
(* A problem with floors, whose utility may have the mean entropy of the rows besides (bonus: its shares, or none). *)
Record with_entropy := With_entropy { plain : problem; bonus : list Z; floors : list floor }.
Definition keeps Q f := IZR (fst (part f)) / IZR (snd (part f)) * logs (shares f) (sizes f) <= entropy (shares f) Q.
Definition kept pb Q := mechanism (plain pb) Q /\ Forall (keeps Q) (floors pb).
Definition earns pb Q := worth (plain pb) Q + entropy (bonus pb) Q / IZR (zsum (bonus pb)).

(* ---- convex functions of mechanisms that are minimised, or limited from above ---- *)
Record convex := Convex { prior : list Z; aim : utility }.
Definition measure u Q := worth (Problem (prior u) (aim u) Free [] None []) Q.
(* A problem whose worth is less a convex function (loss: what it earns otherwise does not count), and limits a / b. *)
Record with_convex := With_convex { inner : with_entropy; loss : option convex; limits : list (convex * (Z * Z)) }.
Definition within Q (l : convex * (Z * Z)) := measure (fst l) Q <= IZR (fst (snd l)) / IZR (snd (snd l)).
Definition fits pb Q := kept (inner pb) Q /\ Forall (within Q) (limits pb).
Definition nets pb Q := match loss pb with Some u => - measure u Q | None => earns (inner pb) Q end.

(* ---- further constraints and utilities ---- *)
Definition quotient (ab : Z * Z) := IZR (fst ab) / IZR (snd ab).
(* The capacity, the largest mutual information over all rational priors (and so, by continuity, over all). *)
Definition capacity_at_most (k : nat) Q c := forall W, length W = k -> Forall (Z.le 0) W -> (0 < zsum W)%Z ->
  measure (Convex W (Information [W])) Q <= c.
(* Approximate privacy: what row x exceeds g times row z by, summed over the outputs where it does. *)
Definition excess g x z Q := total (fun q => Rmax 0 (entry x q - g * entry z q)) Q.
Definition excess_at_most (k : Z) g Q c := forall x z, (0 <= x < k)%Z -> (0 <= z < k)%Z -> x <> z -> excess g x z Q <= c.
(* Renyi divergences: the sum of Q_xy^a Q_zy^(1 - a) over the outputs of x, all of which must be outputs of z, is at most exp ((a - 1) c); of one
   order a with its c, or of every order a > 1 with c = rho a (zero-concentrated). *)
Definition moment a x z Q := total (fun q => if Rlt_dec 0 (entry x q) then Rpower (entry x q) a * Rpower (entry z q) (1 - a) else 0) Q.
Definition apart_at_most (k : Z) a Q c := forall x z, (0 <= x < k)%Z -> (0 <= z < k)%Z -> x <> z ->
  Forall (fun q => 0 < entry x q -> 0 < entry z q) Q /\ moment a x z Q <= exp ((a - 1) * c).
Inductive divergence := Renyi (order most : Z * Z) | Concentrated (most : Z * Z).
Definition near_enough k Q v := match v with Renyi a c => apart_at_most k (quotient a) Q (quotient c)
  | Concentrated c => forall a, 1 < a -> apart_at_most k a Q (quotient c * a) end.
(* A confidence set: shares of its blocks, in each pair of distributions that occur together, agree up to the ratio. *)
Record confidence := Confidence { level : ratio; counts : list Z; radii : (Z * Z) * (Z * Z); product : bool; blocks : list (list Z) }.
Definition pick {A} (w : A) (block : list Z) (l : list A) := map (fun x => nth (Z.to_nat x) l w) block.
Fixpoint weighed_sum (r v : list R) := match r, v with a :: r, y :: v => a * y + weighed_sum r v | _, _ => 0 end.
Fixpoint sum (r : list R) := match r with [] => 0 | a :: r => a + sum r end.
(* Weights over a block that are not 0 where something was counted, and N P_s g_s(r), the root of the sum of n^2 / r. *)
Definition sample (c : list Z) r := length r = length c /\ Forall (Rle 0) r /\ sum r = 1 /\ Forall2 (fun n y => (0 < n)%Z -> 0 < y) c r.
Fixpoint variance (c : list Z) (r : list R) := match c, r with n :: c, y :: r => IZR n * IZR n / y + variance c r | _, _ => 0 end.
Definition spreads c r := sqrt (variance c r).
(* Two samples may occur together, in a set of this radius. *)
Definition likely cf (B : R) c e r t := let N := IZR (zsum (counts cf)) * (sqrt (1 + B) - 1) in
  if product cf then spreads c r <= N + IZR (zsum c) /\ spreads e t <= N + IZR (zsum e) else spreads c r + spreads e t <= N + IZR (zsum c) + IZR (zsum e).
Definition confident cf B v := forall s z b1 b2, nth_error (blocks cf) s = Some b1 -> nth_error (blocks cf) z = Some b2 -> s <> z ->
  let c := pick 0%Z b1 (counts cf) in let e := pick 0%Z b2 (counts cf) in forall r t, sample c r -> sample e t -> likely cf B c e r t ->
  weighed_sum r (pick 0 b1 v) <= ratioR (level cf) * weighed_sum t (pick 0 b2 v).
(* Functions with weights besides the utility. *)
Definition shares_of ps Q := total (fun p : convex * (Z * Z) => quotient (snd p) * measure (fst p) Q) ps.
(* least_capacity: the worth is less the capacity, and nothing else. *)
Record with_more := With_more { middle : with_convex; least_capacity : bool; capacities : list (Z * Z); excesses : list (ratio * (Z * Z)); divergences : list divergence; set_of : option confidence;
  parts : list (convex * (Z * Z)) }.
Definition inputs pb := length (weights (plain (inner (middle pb)))).
Definition obeys pb Q := fits (middle pb) Q /\ Forall (fun ab => capacity_at_most (inputs pb) Q (quotient ab)) (capacities pb) /\
  Forall (fun l => excess_at_most (Z.of_nat (inputs pb)) (ratioR (fst l)) Q (quotient (snd l))) (excesses pb) /\
  Forall (near_enough (Z.of_nat (inputs pb)) Q) (divergences pb) /\
  match set_of pb with Some cf => Forall (confident cf (quotient (fst (radii cf)))) Q | None => True end.
(* The same problem with the larger radius, which fewer mechanisms obey. *)
Definition firm pb := With_more (middle pb) (least_capacity pb) (capacities pb) (excesses pb) (divergences pb)
  (match set_of pb with Some cf => Some (Confidence (level cf) (counts cf) (snd (radii cf), snd (radii cf)) (product cf) (blocks cf)) | None => None end) (parts pb).
Definition nets_at_most pb Q c := if least_capacity pb then forall v, capacity_at_most (inputs pb) Q v -> - v <= c else nets (middle pb) Q + shares_of (parts pb) Q <= c.
Definition nets_at_least pb Q c := if least_capacity pb then capacity_at_most (inputs pb) Q (- c) else c <= nets (middle pb) Q + shares_of (parts pb) Q.
