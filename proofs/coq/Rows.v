(* More constraints and utilities: the capacity, approximate privacy, further rows of floors. Each has a rule that puts rows or
   limits of the problem without it in its place, and a test for mechanisms. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant Lift Conf Parts Divergence.
Import ListNotations.
Open Scope R_scope.
(* ---- the check ---- *)
Open Scope Z_scope.
Fixpoint each {A B} (f : A -> option B) (l : list A) : option (list B) := match l with [] => Some []
  | a :: l => match f a, each f l with Some b, Some r => Some (b :: r) | _, _ => None end end.
Fixpoint each2 {A B C} (f : A -> B -> option C) (l : list A) (m : list B) : option (list C) := match l, m with [], [] => Some []
  | a :: l, b :: m => match f a b, each2 f l m with Some c, Some r => Some (c :: r) | _, _ => None end | _, _ => None end.
Definition a_prior pb W : bool := alike W (weights pb) && nonnegative W && (0 <? zsum W).
Definition at_prior pb (ab : Z * Z) W : option (convex * (Z * Z)) := if a_prior pb W then Some (Convex W (Information [W]), ab) else None.
Fixpoint event_terms (x z h g y : Z) (es : list Z) : option terms := match es with [] => Some []
  | e :: es => match event_terms x z h g (y + 1) es with None => None | Some l =>
      if e =? 0 then Some l else if e =? 1 then Some ((x, y, h) :: (z, y, - g) :: l) else None end end.
(* The sum over an event of h Q_xy - g Q_zy is at most h a / b. *)
Definition event_row (k g h a b : Z) (ev : list Z) : option row := match ev with
  | x :: z :: es => if (0 <=? x) && (x <? k) && (0 <=? z) && (z <? k) && negb (x =? z) then
      match event_terms x z (b * h) (b * g) 0 es with Some l => Some (Row false (a * h) l) | None => None end else None
  | _ => None end.
Definition event_rows pb (l : ratio * (Z * Z)) (evs : (Z * Z) * list (list Z)) : option (list row) := let (g, h) := fst evs in let (a, b) := snd l in
  if at_least (fst l) g h && (0 <? b) then each (event_row (zlen (weights pb)) g h a b) (snd evs) else None.
Record hints := Hints { priors : list (list Z); around : list (list (list Z)); reaches : list ((Z * Z) * list (list Z)); lifts : list (Z * list (list Z)); cuts : option (Z * Z * Z * list (list Z)); sums : list (list (list Z)); tangents_of : list (list (list Z)) }.
(* The rows of the floors at a matrix of points. *)
Definition around_rows en (points : list (list Z)) : option (list row) := match outputs (plain en) with
  | Some m => if zlen points =? m then floor_rows (plain en) points (floors en) else None | None => None end.
Definition cuts_at pb (s : option confidence) (c : option (Z * Z * Z * list (list Z))) : option (list (list Z)) := match s, c with
  | None, None => Some [] | Some cf, Some (g, h, rt, ls) => cuts_of (weights pb) cf g h rt ls | _, _ => None end.
Definition young_rows pb v (ls : list (list Z)) : option (list row) := each (young_row (zlen (weights pb)) v) ls.
Definition widen (en : with_entropy) hs new := let pb := plain en in
  With_entropy (Problem (weights pb) (objective pb) (base pb) (halfspaces pb ++ hs) (outputs pb) (rows pb ++ new)) (bonus en) (floors en).
(* All but the parts of a sum. *)
Definition replaced mo hs : option with_convex := let co := middle mo in let pb := plain (inner co) in
  match (if least_capacity mo then match priors hs with W :: Ws => match at_prior pb (0, 1) W with Some (u, _) => Some (Some u, Ws) | None => None end | [] => None end
         else Some (loss co, priors hs)) with None => None | Some (aimed, Ws) =>
  match each2 (at_prior pb) (capacities mo) Ws, each (around_rows (inner co)) (around hs), each2 (event_rows pb) (excesses mo) (reaches hs), cuts_at pb (set_of mo) (cuts hs), each2 (young_rows pb) (divergences mo) (tangents_of hs) with
  | Some new, Some r1, Some r2, Some cs, Some r3 => if zlen (around hs) <=? 64 then lifted_few (With_convex (widen (inner co) cs (concat r1 ++ concat r2 ++ concat r3)) aimed (limits co ++ new)) (lifts hs) else None
  | _, _, _, _, _ => None end end.
Definition reduce mo (cl : Z * Z) hs : option (with_convex * (Z * Z)) :=
  match (if least_capacity mo then match parts mo, sums hs with [], [] => Some (middle mo, cl) | _, _ => None end else summed (middle mo) (parts mo) (sums hs) cl) with None => None | Some (co, cl) =>
  match replaced (With_more co (least_capacity mo) (capacities mo) (excesses mo) (divergences mo) (set_of mo) []) hs with Some co => Some (co, cl) | None => None end end.

(* n_x times an upper end of D log (n_x T / s), of one column *)
Fixpoint surprises (T s : Z) (q : list Z) : option (list Z) := match q with [] => Some []
  | n :: q => match surprises T s q with None => None | Some l => if n =? 0 then Some (0 :: l) else
      match log_above (n * T) s with Some u => Some (n * u :: l) | None => None end end end.
Fixpoint all_surprises (W : list Z) (cols : list (list Z)) : option (list Z) := match cols with [] => Some (zeros W)
  | q :: cols => match surprises (zsum W) (zdot W q) q, all_surprises W cols with Some a, Some b => Some (zplus a b) | _, _ => None end end.
Definition capacity_there pb d cols W (ab : Z * Z) : bool := a_prior pb W && (0 <? snd ab) && match all_surprises W cols with
  | Some l => forallb (fun s => s * snd ab <=? fst ab * (D * d)) l | None => false end.
Fixpoint attach (q : list Z) (rs : list (list Z)) : list (list Z) := match q, rs with n :: q, r :: rs => (n :: r) :: attach q rs | _, _ => [] end.
Fixpoint over (g h : Z) (a b : list Z) : Z := match a, b with n :: a, m :: b => Z.max 0 (n * h - m * g) + over g h a b | _, _ => 0 end.
Definition excess_there pb d cols (gh : Z * Z) (l : ratio * (Z * Z)) : bool := let (g, h) := gh in let (a, b) := snd l in
  let rs := fold_right attach (map (fun _ => []) (weights pb)) cols in
  at_most (fst l) g h && (0 <? b) && forallb (fun x => forallb (fun z => over g h x z * b <=? a * (h * d)) rs) rs.
Fixpoint all2 {A B} (f : A -> B -> bool) (l : list A) (m : list B) : bool := match l, m with [], [] => true
  | a :: l, b :: m => f a b && all2 f l m | _, _ => false end.
Definition silent co := With_convex (With_entropy (emptied (plain (inner co))) [] (floors (inner co))) None (limits co).
(* best: priors, one for each capacity, that of the utility first; nears: ratios, one for each excess *)
(* members: of a confidence set, g, h and a root, and four numbers for each pair of blocks and column *)
Definition displays mo (claim : Z * Z) d lows best nears members worths moments cols : bool := let co := middle mo in let pb := plain (inner co) in
  match (if least_capacity mo then Some claim else parts_there pb d cols (parts mo) worths claim) with None => false | Some cl =>
  (if least_capacity mo then realises (silent co) (0, 1) d lows cols else realises co cl d lows cols) && (zlen (excesses mo) * zlen (weights pb) * zlen (weights pb) * zlen cols <=? 100000000) && all2 (excess_there pb d cols) nears (excesses mo) &&
  all2 (fun v sh => divergence_there d (fold_right attach (map (fun _ => []) (weights pb)) cols) v sh) (divergences mo) moments &&
  match set_of mo, members with None, None => true | Some cf, Some (g, h, rt, ls) => confident_there (weights pb) cf g h rt d cols ls | _, _ => false end &&
  if least_capacity mo then match best with W :: best => capacity_there pb d cols W (- fst cl, snd cl) && all2 (capacity_there pb d cols) best (capacities mo) | [] => false end
  else (0 <? snd claim) && all2 (capacity_there pb d cols) best (capacities mo) end.
Close Scope Z_scope.

(* ---- rows and limits in their place ---- *)
Lemma each_in {A B} (f : A -> option B) : forall l r, each f l = Some r -> forall b, In b r -> exists a, In a l /\ f a = Some b.
Proof.
  induction l as [|a l IH]; simpl; intros r E b I. { apply Some_inj in E. subst. destruct I. }
  destruct (f a) as [c|] eqn:F; [|discriminate]. destruct (each f l) as [s|]; [|discriminate]. apply Some_inj in E. subst r. destruct I as [->|I]; [eauto|]. destruct (IH s eq_refl b I) as (a' & I' & K). eauto.
Qed.
Lemma each2_in {A B C} (f : A -> B -> option C) : forall l m r, each2 f l m = Some r -> forall c, In c r -> exists a b, In a l /\ In b m /\ f a b = Some c.
Proof.
  induction l as [|a l IH]; intros [|b m] r E c I; simpl in E; try discriminate. { apply Some_inj in E. subst. destruct I. }
  destruct (f a b) as [x|] eqn:F; [|discriminate]. destruct (each2 f l m) as [s|] eqn:S; [|discriminate]. apply Some_inj in E. subst r. destruct I as [->|I]; [exists a, b; simpl; auto|].
  destruct (IH m s S c I) as (a' & b' & Ia & Ib & K). exists a', b'. simpl. auto.
Qed.
Lemma a_prior_ok pb W : a_prior pb W = true -> length W = length (weights pb) /\ Forall (Z.le 0) W /\ (0 < zsum W)%Z.
Proof. unfold a_prior. intros H. split_and H. apply Z.ltb_lt in H0. auto using alike_len, nonneg_all. Qed.
Lemma event_terms_ok x z h g ra Q : (0 <= x)%Z -> (0 <= z)%Z -> 0 <= IZR h -> ra * IZR h <= IZR g -> Forall (Forall (Rle 0)) Q ->
  forall es y l, (0 <= y)%Z -> event_terms x z h g y es = Some l ->
  form l Q <= IZR h * excess ra x z (skipn (Z.to_nat y) Q).
Proof.
  intros Hx Hz Hh Hg N. unfold excess. assert (P : forall Q', 0 <= IZR h * total (fun q => Rmax 0 (entry x q - ra * entry z q)) Q').
  { intros Q'. apply Rmult_le_pos; auto. induction Q' as [|q Q' IH]; simpl; [lra|]. pose proof (Rmax_l 0 (entry x q - ra * entry z q)). lra. }
  assert (V : forall y, 0 <= cell Q z y). { intros y. unfold cell. apply entry_nonneg. destruct (nth_in_or_default (Z.to_nat y) Q []) as [I| ->]; auto. rewrite Forall_forall in N. auto. }
  induction es as [|e es IH]; intros y l Hy E; cbn [event_terms] in E. { apply Some_inj in E. subst. unfold form. simpl. apply P. }
  destruct (event_terms x z h g (y + 1) es) as [l'|] eqn:T; [|discriminate]. specialize (IH (y + 1)%Z l' ltac:(lia) T).
  replace (Z.to_nat (y + 1)) with (S (Z.to_nat y)) in IH by lia.
  assert (K : forall Q n, total (fun q => Rmax 0 (entry x q - ra * entry z q)) (skipn n Q) = Rmax 0 (entry x (nth n Q []) - ra * entry z (nth n Q [])) + total (fun q => Rmax 0 (entry x q - ra * entry z q)) (skipn (S n) Q)).
  { clear. intros Q n. revert Q. induction n; intros [|q Q].
    - simpl. unfold entry. destruct (Z.to_nat x), (Z.to_nat z); simpl; rewrite Rmult_0_r, Rminus_0_r, Rmax_left; lra.
    - reflexivity.
    - simpl. unfold entry. destruct (Z.to_nat x), (Z.to_nat z); simpl; rewrite Rmult_0_r, Rminus_0_r, Rmax_left; lra.
    - exact (IHn Q). }
  rewrite K. fold (cell Q x y) (cell Q z y). set (m := Rmax 0 _). pose proof (Rmax_l 0 (cell Q x y - ra * cell Q z y)) as M0. pose proof (Rmax_r 0 (cell Q x y - ra * cell Q z y)) as M1. fold m in M0, M1.
  assert (HM : 0 <= IZR h * m) by (apply Rmult_le_pos; lra). rewrite Rmult_plus_distr_l. destruct (Z.eqb_spec e 0). { apply Some_inj in E. subst l'. lra. } destruct (Z.eqb_spec e 1); [|discriminate]. apply Some_inj in E. subst l.
  change (IZR h * cell Q x y + (IZR (- g) * cell Q z y + form l' Q) <= IZR h * m + IZR h * total (fun q => Rmax 0 (entry x q - ra * entry z q)) (skipn (S (Z.to_nat y)) Q)). rewrite opp_IZR. pose proof (V y). apply Rmult_le_compat_r with (r := cell Q z y) in Hg; auto.
  apply Rmult_le_compat_l with (r := IZR h) in M1; auto. unfold excess in IH. lra.
Qed.
Lemma event_rows_ok pb l evs new Q : mechanism pb Q -> excess_at_most (Z.of_nat (length (weights pb))) (ratioR (fst l)) Q (quotient (snd l)) ->
  event_rows pb l evs = Some new -> Forall (holds Q) new.
Proof.
  unfold event_rows, quotient. intros (HQ & _) HX E. destruct l as [r [a b]], evs as [[g h] evs]. cbn [fst snd] in *. destruct (at_least r g h && (0 <? b)%Z)%bool eqn:C; [|discriminate]. apply andb_prop in C. destruct C as [C B0].
  apply at_least_ok in C. destruct C as (_ & H0 & C). apply Z.ltb_lt in B0. apply Forall_forall. intros rw I. destruct (each_in _ _ _ E rw I) as (ev & _ & F).
  destruct ev as [|x [|z es]]; try discriminate. cbn [event_row] in F. match type of F with (if ?c then _ else _) = _ => destruct c eqn:K; [|discriminate] end.
  split_and K. apply Z.leb_le in K, K2. apply Z.ltb_lt in K3, K1. rewrite zlen_len in *. destruct (event_terms _ _ _ _ _ es) as [ts|] eqn:T; [|discriminate]. apply Some_inj in F. subst rw. unfold holds. cbn [equal coefficients right].
  specialize (HX x z ltac:(lia) ltac:(lia)). apply negb_true_iff, Z.eqb_neq in K0. specialize (HX K0). apply IZR_lt in H0, B0.
  apply event_terms_ok with (ra := ratioR r) (Q := Q) in T; auto; try lia.
  - simpl skipn in T. eapply Rle_trans; [exact T|]. rewrite !mult_IZR. apply Rmult_le_compat_l with (r := IZR b * IZR h) in HX; [|nra].
    replace (IZR b * IZR h * (IZR a / IZR b)) with (IZR a * IZR h) in HX by (field; lra). exact HX.
  - rewrite mult_IZR. nra.
  - rewrite !mult_IZR. apply Rmult_le_compat_r with (r := IZR h) in C; [|lra]. replace (IZR g / IZR h * IZR h) with (IZR g) in C by (field; lra). nra.
  - eapply Forall_impl; [|exact HQ]. intros q (_ & N & _). exact N.
Qed.
Lemma around_rows_ok en points new Q : kept en Q -> around_rows en points = Some new -> Forall (holds Q) new.
Proof.
  unfold around_rows. intros [(HQ & _ & HO & _) HF] E. destruct (outputs (plain en)) as [m|]; [|discriminate]. destruct (Z.eqb_spec (zlen points) m); [|discriminate].
  rewrite zlen_len in *. eapply floor_rows_ok; [| |exact E|exact HF]. lia. eapply Forall_impl; [|exact HQ]. intros q (_ & N & _). exact N.
Qed.
Lemma forall_concat {A} (P : A -> Prop) : forall l, (forall a, In a l -> Forall P a) -> Forall P (concat l).
Proof. induction l; simpl; intros H; auto. apply Forall_app. auto. Qed.
Lemma replaced_ok mo hs co Q : parts mo = [] -> replaced mo hs = Some co -> obeys mo Q -> exists Q', fits co Q' /\ forall c, nets co Q' <= c -> nets_at_most mo Q c.
Proof.
  unfold replaced. cbv zeta. intros HP E (HF & HC & HX & HV & HS). set (en := inner (middle mo)) in *. match type of E with match ?r with _ => _ end = _ => destruct r as [[aimed Ws]|] eqn:L; [|discriminate] end.
  destruct (each2 (at_prior (plain en)) _ _) as [new|] eqn:E1; [|discriminate]. destruct (each (around_rows en) _) as [r1|] eqn:E2; [|discriminate].
  destruct (each2 (event_rows (plain en)) _ _) as [r2|] eqn:E3; [|discriminate]. destruct (cuts_at (plain en) _ _) as [cs|] eqn:E4; [|discriminate]. destruct (each2 (young_rows (plain en)) _ _) as [r3|] eqn:E5; [|discriminate]. destruct (zlen (around hs) <=? 64)%Z; [|discriminate].
  unfold lifted_few in E. destruct (zlen (lifts hs) <=? 64)%Z; [|discriminate]. match type of E with lifted_all ?c _ = _ => set (first := c) in * end.
  assert (K : fits first Q /\ forall c, nets first Q <= c -> nets_at_most mo Q c).
  2: { destruct K as [K1 K2]. destruct (lifted_all_ok _ _ _ _ E K1) as (Q' & A & B). exists Q'. split; auto. intros c. rewrite B. apply K2. }
  subst first. clear E. pose proof HF as [HK HL]. pose proof HK as [HM HFl].
  assert (P : forall W, a_prior (plain en) W = true -> forall c, capacity_at_most (inputs mo) Q c -> measure (Convex W (Information [W])) Q <= c).
  { intros W A c H. apply a_prior_ok in A. destruct A as (A1 & A2 & A3). apply H; auto. } split.
  - split; cbn [inner limits].
    + split; [|exact HFl]. destruct HM as (H1 & H2 & H3 & H4). unfold widen. cbn [plain]. split; [|split; [exact H2|split; [exact H3|]]].
      { apply Forall_forall. intros q I. rewrite Forall_forall in H1. destruct (H1 q I) as (A1 & A2 & A3 & A4). split; [exact A1|split; [exact A2|split; [exact A3|]]]. cbn [halfspaces]. apply Forall_app. split; auto.
        unfold cuts_at in E4. destruct (set_of mo) as [cf|], (cuts hs) as [[[[g h] rt] ls]|]; try discriminate; [|apply Some_inj in E4; subst cs; constructor]. eapply cuts_ok; eauto. rewrite Forall_forall in HS. auto. }
      cbn [rows]. apply Forall_app. split; auto. apply Forall_app. split; [|apply Forall_app; split]; apply forall_concat; intros rs I.
      * destruct (each_in _ _ _ E2 rs I) as (ps & _ & F). eapply around_rows_ok; eauto.
      * destruct (each2_in _ _ _ _ E3 rs I) as (l & evs & Il & _ & F). rewrite Forall_forall in HX. eapply event_rows_ok; [|apply (HX l Il)|exact F]. repeat split; auto.
      * destruct (each2_in _ _ _ _ E5 rs I) as (v & ls & Iv & _ & F). rewrite Forall_forall in HV. specialize (HV v Iv). unfold inputs in HV. rewrite <- zlen_len in HV. apply Forall_forall. intros rw Ir. destruct (each_in _ _ _ F rw Ir) as (l & _ & Y). eapply young_row_ok; [|exact HV|exact Y]. repeat split; auto.
    + apply Forall_app. split; auto. apply Forall_forall. intros l I. destruct (each2_in _ _ _ _ E1 l I) as (ab & W & Ia & _ & F). unfold at_prior in F. destruct (a_prior (plain en) W) eqn:A; [|discriminate].
      apply Some_inj in F. subst l. unfold within. cbn [fst snd]. apply P; auto. rewrite Forall_forall in HC. exact (HC ab Ia).
  - intros c H. unfold nets_at_most. destruct (least_capacity mo).
    + destruct (priors hs) as [|W ws]; [discriminate|]. unfold at_prior in L. destruct (a_prior (plain en) W) eqn:A; [|discriminate]. apply Some_inj in L. injection L as <- <-.
      intros v Hv. unfold nets in H. cbn [loss] in H. pose proof (P W A v Hv). lra.
    + apply Some_inj in L. injection L as <- <-. unfold nets in *. cbn [loss inner] in *. rewrite HP. unfold shares_of. simpl total. rewrite Rplus_0_r. destruct (loss (middle mo)); exact H.
Qed.
Lemma summed_weights co ps hs cl co' cl' : summed co ps hs cl = Some (co', cl') -> weights (plain (inner co')) = weights (plain (inner co)).
Proof.
  unfold summed. cbv zeta. destruct ps as [|p ps]. { destruct hs; [|discriminate]. intros E. apply Some_inj in E. now injection E as <- _. } destruct (objective _) as [den cost| | |]; try discriminate. destruct (outputs _); [|discriminate]. destruct (bonus _); [|discriminate]. destruct (loss co); [discriminate|].
  match goal with |- (if ?c then _ else _) = _ -> _ => destruct c; [|discriminate] end. destruct (add_parts _ _ _ _ _ _ _) as [[[den' cost'] cl1]|]; [|discriminate]. intros E. apply Some_inj in E. now injection E as <- _.
Qed.
Theorem reduce_ok mo N M hs co N' M' Q : reduce mo (N, M) hs = Some (co, (N', M')) -> obeys mo Q -> exists Q', fits co Q' /\ (nets co Q' <= IZR N' / IZR M' -> nets_at_most mo Q (IZR N / IZR M)).
Proof.
  unfold reduce. intros E (HF & HC & HX & HV & HS). match type of E with match ?r with _ => _ end = _ => destruct r as [[c1 cl1]|] eqn:S; [|discriminate] end. destruct (replaced _ hs) as [c2|] eqn:R; [|discriminate]. apply Some_inj in E. injection E as <- ->.
  set (mo' := With_more c1 (least_capacity mo) (capacities mo) (excesses mo) (divergences mo) (set_of mo) []) in *.
  assert (K : weights (plain (inner c1)) = weights (plain (inner (middle mo))) /\ fits c1 Q /\ (nets_at_most mo' Q (IZR N' / IZR M') -> nets_at_most mo Q (IZR N / IZR M))).
  { unfold nets_at_most, inputs. subst mo'. cbn [middle least_capacity parts]. destruct (least_capacity mo).
    - destruct (parts mo); [|discriminate]. destruct (sums hs); [|discriminate]. apply Some_inj in S. injection S as <- <- <-. auto.
    - pose proof (summed_weights _ _ _ _ _ _ S) as W. destruct (summed_ok _ _ _ _ _ _ _ _ Q S HF) as [A B]. split; auto. split; auto. unfold shares_of at 1. simpl total. rewrite Rplus_0_r. exact B. }
  destruct K as (KW & KF & KN). destruct (replaced_ok mo' hs c2 Q eq_refl R) as (Q' & A & B). { unfold obeys, inputs, mo' in *. cbn [middle capacities excesses divergences set_of]. rewrite KW. auto. } exists Q'. split; auto.
Qed.

(* ---- values ---- *)
Lemma surprises_ok dn T s : (0 < dn)%Z -> (0 < T)%Z -> forall q l G, Forall (Z.le 0) G -> Forall (Z.le 0) q -> surprises T s q = Some l ->
  length l = length q /\ relative G (IZR s / IZR dn / IZR T) (real dn q) <= IZR (zdot G l) / (DR * IZR dn).
Proof.
  intros Hd HT. pose proof DR_pos as DP. apply IZR_lt in Hd, HT. induction q as [|n q IH]; intros l G HG Hq E; cbn [surprises] in E.
  { apply Some_inj in E. subst. split; auto. destruct G; simpl; unfold Rdiv; lra. }
  destruct (surprises T s q) as [l'|] eqn:S; [|discriminate]. inversion Hq as [|? ? n0 Hq']; subst.
  assert (LL : length l' = length q) by (apply (IH l' [] ltac:(constructor) Hq' eq_refl)).
  assert (KK : forall a, l = a :: l' -> (forall g, 0 <= IZR g -> IZR g * (IZR n / IZR dn * ln (IZR n / IZR dn / (IZR s / IZR dn / IZR T))) <= IZR g * IZR a / (DR * IZR dn)) ->
    length l = length (n :: q) /\ relative G (IZR s / IZR dn / IZR T) (real dn (n :: q)) <= IZR (zdot G l) / (DR * IZR dn)).
  { intros a -> H. split. { simpl. now rewrite LL. } destruct G as [|g G]. { simpl. unfold Rdiv. lra. } inversion HG as [|? ? g0 HG']; subst. apply IZR_le in g0.
    destruct (IH l' G HG' Hq' eq_refl) as [_ J]. simpl. fold (real dn q). rewrite plus_IZR, mult_IZR. specialize (H g g0). unfold Rdiv in *. lra. }
  destruct (Z.eqb_spec n 0) as [->|N0].
  - apply Some_inj in E. apply (KK 0%Z); auto. intros g g0. unfold Rdiv. rewrite !Rmult_0_l. lra.
  - destruct (log_above (n * T) s) as [u|] eqn:L; [|discriminate]. apply Some_inj in E. apply (KK (n * u)%Z); auto. intros g g0.
    apply log_ok in L. destruct L as (P1 & P2 & L). unfold is_end in L. fold DR in L. apply IZR_lt in P2. assert (n1 : (0 < n)%Z) by lia. apply IZR_lt in n1. rewrite mult_IZR in L.
    replace (IZR n / IZR dn / (IZR s / IZR dn / IZR T)) with (IZR n * IZR T / IZR s) by (field; repeat split; lra).
    assert (K : 0 <= IZR g * (IZR n / IZR dn)). { apply Rmult_le_pos; auto. apply Rlt_le, Rdiv_lt_0_compat; auto. }
    apply Rmult_le_compat_l with (r := IZR g * (IZR n / IZR dn)) in L; auto. rewrite mult_IZR.
    replace (IZR g * (IZR n * IZR u) / (DR * IZR dn)) with (IZR g * (IZR n / IZR dn) * (IZR u / DR)) by (field; lra). lra.
Qed.
(* The relative entropy to the own mean is the least. *)
Lemma relative_least G r q : Forall (Z.le 0) G -> (0 < zsum G)%Z -> Forall (Rle 0) q -> 0 <= r -> (r = 0 -> dot G q <= 0) ->
  relative G (dot G q / IZR (zsum G)) q <= relative G r q + IZR (zsum G) * r - dot G q.
Proof.
  intros HG HN Hq Hr Z0. apply IZR_lt in HN. set (N := IZR (zsum G)) in *. destruct (Rle_dec (dot G q) 0) as [P|P].
  - destruct (zero_dot G q HG Hq P) as (K & _ & _ & K'). rewrite !K, K'. nra.
  - assert (r0 : 0 < r) by (destruct Hr as [|E]; auto; subst; tauto). set (w := dot G q / N). assert (w0 : 0 < w) by (apply Rdiv_lt_0_compat; lra).
    rewrite (relative_ok w w0), (relative_ok r r0) by auto. assert (DW : dot G q = N * w) by (unfold w; field; lra). rewrite DW.
    pose proof (ln_le_sub (r / w) ltac:(apply Rdiv_lt_0_compat; auto)) as L. unfold Rdiv in L at 1. rewrite ln_mult, ln_Rinv in L; auto using Rinv_0_lt_compat.
    apply Rmult_le_compat_l with (r := N * w) in L; [|nra]. replace (N * w * (r / w - 1)) with (N * r - N * w) in L by (field; lra). lra.
Qed.
Lemma zdot_zplus : forall G a b, length a = length b -> zdot G (zplus a b) = (zdot G a + zdot G b)%Z.
Proof. induction G; intros [|x a'] [|y b'] L; simpl in *; try discriminate; auto. rewrite IHG by lia. lia. Qed.
Lemma zdot_zeros {A} : forall G (W : list A), zdot G (zeros W) = 0%Z.
Proof. induction G; destruct W; simpl; auto. fold (zeros W). rewrite IHG. lia. Qed.
Lemma all_surprises_ok dn W : (0 < dn)%Z -> Forall (Z.le 0) W -> (0 < zsum W)%Z -> forall cols L, Forall (fun q => length q = length W /\ Forall (Z.le 0) q) cols ->
  all_surprises W cols = Some L -> length L = length W /\ forall G, length G = length W -> Forall (Z.le 0) G -> (0 < zsum G)%Z ->
  total (fun q => relative G (dot G q / IZR (zsum G)) q) (map (real dn) cols) <=
  IZR (zdot G L) / (DR * IZR dn) + IZR (zsum G) / IZR (zsum W) * total (dot W) (map (real dn) cols) - total (dot G) (map (real dn) cols).
Proof.
  intros Hd HW HT. pose proof DR_pos as DP. induction cols as [|q cols IH]; intros L HC E; cbn [all_surprises] in E.
  { apply Some_inj in E. subst. split. { apply map_length. } intros. rewrite zdot_zeros. simpl. unfold Rdiv. lra. }
  destruct (surprises (zsum W) (zdot W q) q) as [a|] eqn:A; [|discriminate]. destruct (all_surprises W cols) as [b|]; [|discriminate]. apply Some_inj in E. subst L.
  inversion HC as [|? ? [Lq Nq] HC']; subst. destruct (IH b HC' eq_refl) as [Lb IH']. destruct (surprises_ok dn (zsum W) (zdot W q) Hd HT q a [] ltac:(constructor) Nq A) as [La _].
  split. { rewrite len_zplus; lia. } intros G LG HG HN. specialize (IH' G LG HG HN). destruct (surprises_ok dn (zsum W) (zdot W q) Hd HT q a G HG Nq A) as [_ K].
  rewrite zdot_zplus, plus_IZR by lia. cbn [map total]. set (r := IZR (zdot W q) / IZR dn / IZR (zsum W)) in *.
  assert (DQ : dot W (real dn q) = IZR (zsum W) * r). { rewrite dot_real by auto. unfold r. apply IZR_lt in HT, Hd. field. lra. }
  pose proof HT as HT'. pose proof Hd as Hd'. apply IZR_lt in HT', Hd'. assert (r0 : 0 <= r).
  { unfold r. pose proof (zdot_pos W q HW Nq) as Z0. apply IZR_le in Z0. apply Rmult_le_pos; [apply Rmult_le_pos; auto|]; apply Rlt_le, Rinv_0_lt_compat; auto. }
  assert (Z0 : r = 0 -> dot G (real dn q) <= 0).
  { intros R0. rewrite dot_real by auto. assert (S0 : (zdot W q <= 0)%Z). { apply le_IZR. unfold r in R0. replace (IZR (zdot W q)) with (IZR (zdot W q) / IZR dn / IZR (zsum W) * (IZR dn * IZR (zsum W))) by (field; lra). rewrite R0. lra. }
    assert (Q0 : Forall (eq 0%Z) q). { clear - A S0. revert a A S0. generalize (zdot W q). intros s. induction q as [|n q IH]; intros a A S0; auto. cbn [surprises] in A. destruct (surprises (zsum W) s q) as [l|]; [|discriminate].
      destruct (Z.eqb_spec n 0) as [->|N]; [constructor; eauto|]. destruct (log_above (n * zsum W) s) as [u|] eqn:LL; [|discriminate]. apply log_ok in LL. destruct LL as (_ & P & _). lia. }
    replace (zdot G q) with 0%Z. { unfold Rdiv. lra. } clear - Q0. revert G. induction Q0; destruct G; simpl; auto. rewrite <- IHQ0. lia. }
  pose proof (relative_least G r (real dn q) HG HN (real_pos dn Hd q Nq) r0 Z0) as R1. rewrite DQ.
  replace (IZR (zsum G) / IZR (zsum W) * (IZR (zsum W) * r + total (dot W) (map (real dn) cols))) with (IZR (zsum G) * r + IZR (zsum G) / IZR (zsum W) * total (dot W) (map (real dn) cols)) by (field; lra).
  unfold Rdiv in *. lra.
Qed.
Lemma zdot_most m : forall G L, Forall (Z.le 0) G -> length L = length G -> Forall (fun s => IZR s <= m) L -> IZR (zdot G L) <= IZR (zsum G) * m.
Proof.
  induction G as [|g G IH]; intros [|s L] HG LL H; simpl in *; try discriminate; try lra. inversion HG as [|? ? g0 HG']; inversion H as [|? ? s0 H']; subst. apply IZR_le in g0.
  specialize (IH L HG' ltac:(lia) H'). rewrite !plus_IZR, mult_IZR. nra.
Qed.
Lemma capacity_ok pb dn cols W ab : (0 < dn)%Z -> Forall (fun q => length q = length (weights pb) /\ Forall (Z.le 0) q) cols ->
  colsum (length (weights pb)) (map (real dn) cols) = repeat 1 (length (weights pb)) -> capacity_there pb dn cols W ab = true ->
  capacity_at_most (length (weights pb)) (map (real dn) cols) (quotient ab).
Proof.
  unfold capacity_there, quotient. intros Hd HC HS H G LG HG HN. split_and H. apply a_prior_ok in H. destruct H as (LW & HW & HT). apply Z.ltb_lt in H1. destruct (all_surprises W cols) as [L|] eqn:E; [|discriminate].
  rewrite <- LW in HC. destruct (all_surprises_ok dn W Hd HW HT cols L HC E) as [LL K]. specialize (K G ltac:(lia) HG HN).
  assert (LQ : Forall (fun q => length q = length (weights pb)) (map (real dn) cols)). { apply Forall_map. eapply Forall_impl; [|exact HC]. intros q [Lq _]. unfold real. rewrite map_length. lia. }
  destruct (total_colsum W _ _ LQ) as [TW _]. destruct (total_colsum G _ _ LQ) as [TG _]. rewrite HS in TW, TG. rewrite <- LW, dot_1 in TW. rewrite <- LG, dot_1 in TG. rewrite TW, TG in K.
  unfold measure, worth. cbn [objective weights prior aim]. unfold information. apply IZR_lt in HN, HT, H1, Hd. pose proof DR_pos as DP.
  replace (total (fun q => total (fun G0 => relative G0 (dot G0 q / IZR (zsum G0)) q) [G]) (map (real dn) cols)) with (total (fun q => relative G (dot G q / IZR (zsum G)) q) (map (real dn) cols)).
  2: { clear. induction (map (real dn) cols); auto. simpl in IHl |- *. rewrite IHl. ring. }
  set (X := total _ _) in *. assert (M : IZR (zdot G L) <= IZR (zsum G) * (IZR (fst ab) / IZR (snd ab) * (DR * IZR dn))).
  { apply zdot_most; auto; [lia|]. rewrite forallb_forall in H0. apply Forall_forall. intros s I. specialize (H0 s I). apply Z.leb_le, IZR_le in H0. rewrite !mult_IZR in H0. fold DR in H0.
    apply (Rmult_le_reg_r (IZR (snd ab))); auto. replace (IZR (fst ab) / IZR (snd ab) * (DR * IZR dn) * IZR (snd ab)) with (IZR (fst ab) * (DR * IZR dn)) by (field; lra). exact H0. }
  apply Rmult_le_compat_r with (r := / (DR * IZR dn)) in M; [|apply Rlt_le, Rinv_0_lt_compat; nra].
  replace (IZR (zsum G) * (IZR (fst ab) / IZR (snd ab) * (DR * IZR dn)) * / (DR * IZR dn)) with (IZR (zsum G) * (IZR (fst ab) / IZR (snd ab))) in M by (field; repeat split; lra).
  replace (IZR (zsum G) / IZR (zsum W) * IZR (zsum W)) with (IZR (zsum G)) in K by (field; lra). apply (Rmult_le_reg_r (IZR (zsum G))); auto. unfold Rdiv in *. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
Lemma attach_rows (W : list Z) : forall cols, Forall (fun q => length q = length W) cols ->
  length (fold_right attach (map (fun _ => []) W) cols) = length W /\ forall x, (x < length W)%nat -> nth x (fold_right attach (map (fun _ => []) W) cols) [] = map (fun q => nth x q 0%Z) cols.
Proof.
  induction cols as [|q cols IH]; intros H; simpl. { rewrite map_length. split; auto. intros x X. revert x X. clear. induction W; intros [|x] X; simpl in *; auto; try lia. apply IHW. lia. }
  inversion_clear H as [|? ? H1 H2]. destruct (IH H2) as [I J]. revert I J. generalize (fold_right attach (map (fun _ => []) W) cols). rewrite <- H1. clear. intros rs I J.
  assert (K : forall (q : list Z) rs, length rs = length q -> length (attach q rs) = length q /\ forall x, (x < length q)%nat -> nth x (attach q rs) [] = nth x q 0%Z :: nth x rs []).
  { clear. induction q as [|n q IH]; intros [|r rs] L; simpl in *; try discriminate. split; auto; intros; lia. destruct (IH rs ltac:(lia)) as [A B]. split; [lia|]. intros [|x] X; auto. apply B. lia. }
  destruct (K q rs I) as [A B]. split; auto. intros x X. rewrite B, J; auto.
Qed.
Lemma excess_ok pb dn cols gh l : (0 < dn)%Z -> Forall (fun q => length q = length (weights pb) /\ Forall (Z.le 0) q) cols -> excess_there pb dn cols gh l = true ->
  excess_at_most (Z.of_nat (length (weights pb))) (ratioR (fst l)) (map (real dn) cols) (quotient (snd l)).
Proof.
  unfold excess_there, quotient. intros Hd HC H x z Hx Hz _. destruct gh as [g h], l as [r [a b]]. cbn [fst snd] in *. split_and H. apply Sound.at_most_ok in H. destruct H as (G0 & H0' & HR). apply Z.ltb_lt in H1.
  destruct (attach_rows (weights pb) cols) as [LR NR]. { eapply Forall_impl; [|exact HC]. tauto. } set (rs := fold_right _ _ _) in *. rewrite forallb_forall in H0.
  assert (Ix : In (nth (Z.to_nat x) rs []) rs) by (apply nth_In; lia). assert (Iz : In (nth (Z.to_nat z) rs []) rs) by (apply nth_In; lia).
  specialize (H0 _ Ix). rewrite forallb_forall in H0. specialize (H0 _ Iz). apply Z.leb_le in H0. rewrite !NR in H0 by lia.
  apply IZR_lt in Hd, H0', H1. apply IZR_le in G0. apply Rle_trans with (IZR (over g h (map (fun q => nth (Z.to_nat x) q 0%Z) cols) (map (fun q => nth (Z.to_nat z) q 0%Z) cols)) / (IZR h * IZR dn)).
  - clear H0 Ix Iz NR LR rs. unfold excess. induction HC as [|q cols [Lq Nq] HC IH]; cbn [map total over]. { unfold Rdiv. lra. } rewrite plus_IZR. unfold Rdiv at 1. rewrite Rmult_plus_distr_r. apply Rplus_le_compat; [|exact IH].
    unfold entry. rewrite !nth_real. set (n := nth (Z.to_nat x) q 0%Z). set (m := nth (Z.to_nat z) q 0%Z). assert (m0 : 0 <= IZR m). { apply IZR_le. unfold m. rewrite Forall_forall in Nq. apply Nq, nth_In. lia. }
    assert (B0 : 0 < / (IZR h * IZR dn)) by (apply Rinv_0_lt_compat; nra). apply Rmax_lub.
    + apply Rmult_le_pos; [|lra]. apply IZR_le. lia.
    + apply Rle_trans with (IZR (n * h - m * g) * / (IZR h * IZR dn)). 2: { apply Rmult_le_compat_r; [lra|]. apply IZR_le. lia. }
      rewrite minus_IZR, !mult_IZR. replace ((IZR n * IZR h - IZR m * IZR g) * / (IZR h * IZR dn)) with (IZR n / IZR dn - IZR g / IZR h * (IZR m / IZR dn)) by (field; lra).
      assert (0 <= IZR m / IZR dn) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto). nra.
  - apply IZR_le in H0. rewrite !mult_IZR in H0. apply div_le; auto; nra.
Qed.
Lemma all2_in {A B} (f : A -> B -> bool) : forall l m, all2 f l m = true -> forall b, In b m -> exists a, f a b = true.
Proof. induction l; intros [|c m] H b I; simpl in *; try discriminate; try tauto. apply andb_prop in H. destruct H as [H1 H2]. destruct I as [->|I]; eauto. Qed.
Lemma all2_in2 {A B} (f : A -> B -> bool) : forall l m, all2 f l m = true -> forall a, In a l -> exists b, f a b = true.
Proof. induction l; intros [|c m] H b I; simpl in *; try discriminate; try tauto. apply andb_prop in H. destruct H as [H1 H2]. destruct I as [->|I]; eauto. Qed.
(* What a value asks of the numbers. *)
Lemma realises_parts co cl dn lows cols : realises co cl dn lows cols = true -> (0 < dn)%Z /\
  Forall (fun q => length q = length (weights (plain (inner co))) /\ Forall (Z.le 0) q) cols.
Proof.
  unfold realises. cbv zeta. intros H. apply andb_prop in H. destruct H as [_ H].
  assert (A : exists en cl', weights (plain en) = weights (plain (inner co)) /\ attains_all en cl' dn lows cols = true).
  { destruct (loss co). - split_and H. eexists _, _. split; [|exact H]. reflexivity. - eauto. } destruct A as (en & cl' & <- & A).
  assert (B : exists cl, attains (plain en) cl dn lows cols = true). { unfold attains_all in A. cbv zeta in A. apply andb_prop in A. destruct A as [_ A]. destruct (bonus en); [eauto|]. split_and A. destruct (sum_all _ cols); [eauto|discriminate]. }
  destruct B as (cl2 & B). unfold attains in B. cbv zeta in B. split_and B. apply Z.ltb_lt in B8. split; auto.
  apply Forall_forall. intros q I. rewrite forallb_forall in B6. specialize (B6 q I). split_and B6. auto using alike_len, nonneg_all.
Qed.
Theorem displays_sound mo N M dn lows best nears members worths moments cols : displays mo (N, M) dn lows best nears members worths moments cols = true ->
  obeys (firm mo) (map (real dn) cols) /\ nets_at_least mo (map (real dn) cols) (IZR N / IZR M).
Proof.
  unfold displays. cbv zeta. intros H. match type of H with match ?r with _ => _ end = _ => destruct r as [[n1 m1]|] eqn:PT; [|discriminate] end. apply andb_prop in H. destruct H as [H H0]. apply andb_prop in H. destruct H as [H HM]. apply andb_prop in H. destruct H as [H HD]. apply andb_prop in H. destruct H as [H H1]. apply andb_prop in H. destruct H as [H _].
  assert (R : exists co N' M', realises co (N', M') dn lows cols = true /\ weights (plain (inner co)) = weights (plain (inner (middle mo))) /\ (fits co (map (real dn) cols) -> fits (middle mo) (map (real dn) cols))).
  { destruct (least_capacity mo); eexists _, _, _; (split; [exact H|split; [reflexivity|]]); intros [[A B] C]; repeat split; auto; apply A. } destruct R as (co & N' & M' & R & EW & F).
  destruct (realises_parts _ _ _ _ _ R) as [Hd HC]. rewrite EW in HC. apply realises_sound in R. destruct R as [HF _]. apply F in HF. clear F EW. assert (HS := HF). destruct HS as [[[_ [HS _]] _] _].
  assert (O : Forall (fun ab => capacity_at_most (inputs mo) (map (real dn) cols) (quotient ab)) (capacities mo) -> obeys (firm mo) (map (real dn) cols)).
  { intros HA. split; [exact HF|]. split; [exact HA|]. split; [|split].
    - apply Forall_forall. intros l I. destruct (all2_in _ _ _ H1 l I) as (gh & K). eapply excess_ok; eauto.
    - assert (SUM : forall x, (0 <= x < Z.of_nat (inputs mo))%Z -> total (entry x) (map (real dn) cols) = 1).
      { intros x Hx. unfold inputs in Hx. set (k := length _) in *. assert (LQ : Forall (fun q => length q = k) (map (real dn) cols)) by (apply Forall_map; eapply Forall_impl; [|exact HC]; intros q [Lq _]; unfold real; rewrite map_length; exact Lq).
        replace (total (entry x) (map (real dn) cols)) with (entry x (colsum k (map (real dn) cols))). { change (weights (plain (inner (middle mo)))) with (weights (plain (inner (middle mo)))) in HS. fold k in HS. rewrite HS. unfold entry. clear - Hx. apply (repeat_spec k 1). apply nth_In. rewrite repeat_length. lia. }
        clear - LQ. induction LQ as [|q Q Lq LQ IH]; simpl. { unfold entry. destruct (nth_in_or_default (Z.to_nat x) (repeat 0 k) 0) as [I|E]; [now apply repeat_spec in I|exact E]. } rewrite entry_plus, IH; auto. destruct (total_colsum [] k Q LQ) as [_ L]. congruence. }
      apply Forall_forall. intros v I. destruct (all2_in2 _ _ _ HD v I) as (sh & K). destruct (attach_rows (weights (plain (inner (middle mo)))) cols) as [LR NR]. { eapply Forall_impl; [|exact HC]. intros q [Lq _]. exact Lq. }
      eapply (divergence_there_ok dn (Z.of_nat (inputs mo)) cols); [exact Hd| |exact SUM| | |exact K]. { eapply Forall_impl; [|exact HC]. intros q [_ Nq]. exact Nq. } { rewrite LR. unfold inputs. lia. } intros x X. apply NR. unfold inputs in X. lia.
    - unfold firm. cbn [set_of]. destruct (set_of mo) as [cf|], members as [[[[g h] rt] ls]|]; try discriminate; auto. cbn [radii fst snd]. exact (confident_there_ok _ _ _ _ _ _ _ _ Hd HC HM). }
  assert (HA : forall best, all2 (capacity_there (plain (inner (middle mo))) dn cols) best (capacities mo) = true -> Forall (fun ab => capacity_at_most (inputs mo) (map (real dn) cols) (quotient ab)) (capacities mo)).
  { intros b K. apply Forall_forall. intros ab I. destruct (all2_in _ _ _ K ab I) as (W & KW). eapply capacity_ok; eauto. }
  unfold nets_at_least. destruct (least_capacity mo) eqn:LC.
  - apply Some_inj in PT. injection PT as <- <-. destruct best as [|W best]; [discriminate|]. apply andb_prop in H0. destruct H0 as [H2 H3]. split; [eauto|]. apply capacity_ok in H2; auto. unfold quotient in H2. cbn [fst snd] in H2. rewrite opp_IZR in H2.
    intros G LG HG HN. specialize (H2 G LG HG HN). unfold Rdiv in *. lra.
  - apply andb_prop in H0. destruct H0 as [M0 H0]. apply Z.ltb_lt in M0. cbn [snd] in M0. apply realises_sound in H. split; [eauto|].
    destruct (parts_there_ok _ _ _ Hd (fun q I => proj2 (proj1 (Forall_forall _ _) HC q I)) _ _ _ _ _ _ PT M0) as [_ K]. apply K, H.
Qed.
(* What obeys the larger radius obeys the smaller one. *)
Theorem firm_obeys mo Q : match set_of mo with Some cf => confidence_ok (weights (plain (inner (middle mo)))) cf = true | None => True end -> obeys (firm mo) Q -> obeys mo Q.
Proof.
  unfold obeys, firm. cbn [middle capacities excesses divergences set_of]. intros C (A & B & X & Y & K). split; [exact A|]. split; [exact B|]. split; [exact X|]. split; [exact Y|]. destruct (set_of mo) as [cf|]; auto.
  destruct (confidence_parts _ _ C) as (_ & _ & N0 & [R0 R1] & _). eapply Forall_impl; [|exact K]. cbn [radii fst]. intros v V. apply (confident_mono cf _ (quotient (snd (radii cf)))); auto. lia.
Qed.
Definition proves mo cl hs touches points hd toks := match reduce mo cl hs with Some (co, cl) => accepts co cl touches points hd toks | None => false end.
Definition denies mo cl hs touches points hd toks := match reduce mo cl hs with Some (co, _) => excludes co cl touches points hd toks | None => false end.
Theorem proves_sound mo N M hs touches points hd toks : proves mo (N, M) hs touches points hd toks = true -> forall Q, obeys mo Q -> nets_at_most mo Q (IZR N / IZR M).
Proof. unfold proves. intros H Q K. destruct (reduce mo (N, M) hs) as [[co [N' M']]|] eqn:E; [|discriminate]. destruct (reduce_ok _ _ _ _ _ _ _ _ E K) as (Q' & A & B). apply B. eapply accepts_sound; eauto. Qed.
Theorem denies_sound mo N M hs touches points hd toks : denies mo (N, M) hs touches points hd toks = true -> forall Q, ~ obeys mo Q.
Proof. unfold denies. intros H Q K. destruct (reduce mo (N, M) hs) as [[co [N' M']]|] eqn:E; [|discriminate]. destruct (reduce_ok _ _ _ _ _ _ _ _ E K) as (Q' & A & _). eapply excludes_sound; eauto. Qed.
