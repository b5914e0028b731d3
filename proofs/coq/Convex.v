(* The inequalities behind the rules: tangents, ends of intervals, corners of boxes. *)
Require Import Reals Lra Lia List ZArith Psatz.
Require Import Problem.
Import ListNotations.
Open Scope R_scope.

Inductive kind := Plain | Entropic | Square.
(* The convex function of one entry: v log v for mutual information, v^2 for chi-square, 0 for linear tests. *)
Definition phi kd v := match kd with Plain => 0 | Entropic => v * ln v | Square => v * v end.
Notation xlogx := (phi Entropic).
Fixpoint zphi kd (W : list Z) (v : list R) : R :=
  match W, v with w :: W, y :: v => IZR w * phi kd y + zphi kd W v | _, _ => 0 end.

Lemma ln_le_sub x : 0 < x -> ln x <= x - 1.
Proof. intros H. pose proof (exp_ineq1_le (ln x)). rewrite exp_ln in H0; lra. Qed.
Lemma tangent w t l : 0 <= w -> 0 < t -> l <= ln t -> - xlogx w <= t - w * (1 + l).
Proof.
  simpl. intros [Hw|<-] Ht Hl; [|lra].
  assert (E: ln (t / w) <= t / w - 1) by (apply ln_le_sub; apply Rdiv_lt_0_compat; lra).
  unfold Rdiv in E at 1. rewrite ln_mult, ln_Rinv in E; auto using Rinv_0_lt_compat.
  apply Rmult_le_compat_l with (r := w) in E; [|lra]. replace (w * (t / w - 1)) with (t - w) in E by (field; lra). nra.
Qed.
(* A convex function lies above a line through each point inside. *)
Lemma support kd v : 0 < v -> exists s, forall u, 0 <= u -> phi kd v + s * (u - v) <= phi kd u.
Proof.
  intros Hv. destruct kd; simpl.
  - exists 0. intros. lra.
  - exists (1 + ln v). intros u Hu. pose proof (tangent u v (ln v) Hu Hv (Rle_refl _)) as K. simpl in K. nra.
  - exists (2 * v). intros. pose proof (Rle_0_sqr (u - v)). unfold Rsqr in *. lra.
Qed.
Lemma ends_of (F : R -> R) lo hi v : lo <= v <= hi ->
  (exists s, F v + s * (lo - v) <= F lo /\ F v + s * (hi - v) <= F hi) -> F v <= Rmax (F lo) (F hi).
Proof.
  intros H (s & A & B). destruct (Rle_dec 0 s).
  eapply Rle_trans; [|apply Rmax_r]. nra. eapply Rle_trans; [|apply Rmax_l]. nra.
Qed.
Lemma ends kd p s lo hi v : 0 <= p -> 0 <= lo -> lo <= v <= hi ->
  p * phi kd v + s * v <= Rmax (p * phi kd lo + s * lo) (p * phi kd hi + s * hi).
Proof.
  intros Hp Hlo H. destruct (Rle_lt_or_eq_dec 0 v) as [Hv|Hv]; [lra| |].
  - destruct (support kd v Hv) as (a & K). apply (ends_of (fun v => p * phi kd v + s * v)); auto.
    exists (p * a + s). pose proof (K lo Hlo). pose proof (K hi ltac:(lra)). split; nra.
  - subst v. assert (lo = 0) by lra. subst lo. apply Rmax_l.
Qed.

(* ---- sums over vectors ---- *)
Lemma dot_pos : forall W v, Forall (Z.le 0) W -> Forall (Rle 0) v -> 0 <= dot W v.
Proof.
  induction W; destruct v; simpl; intros H H0; try lra. inversion H as [|? ? A B]; inversion H0 as [|? ? C E]; subst.
  apply IZR_le in A. specialize (IHW v B E). nra.
Qed.
Lemma dot_above a : forall W v, Forall (Z.le 0) W -> length v = length W -> 0 <= a -> Forall (Rle a) v -> a * IZR (zsum W) <= dot W v.
Proof.
  induction W; destruct v; simpl; intros H L Ha H0; try discriminate; try lra.
  inversion H as [|? ? A B]; inversion H0 as [|? ? C E]; subst. apply IZR_le in A.
  specialize (IHW v B ltac:(lia) Ha E). rewrite plus_IZR. nra.
Qed.
Lemma dot_mid : forall W l1 l2, exists c a, forall y, dot W (l1 ++ y :: l2) = c + a * y.
Proof.
  induction W as [|w W]; intros l1 l2. { exists 0, 0. intros. simpl. lra. } destruct l1 as [|z l1]; simpl.
  - exists (dot W l2), (IZR w). intros. lra.
  - destruct (IHW l1 l2) as (c & a & E). exists (IZR w * z + c), a. intros. rewrite E. lra.
Qed.
Lemma weights_mid kd : forall W l1 l2, Forall (Z.le 0) W -> Forall (Rle 0) l1 -> Forall (Rle 0) l2 ->
  exists c p e, 0 <= c /\ 0 <= p /\ (kd = Square -> 0 <= e) /\
    forall y, dot W (l1 ++ y :: l2) = c + p * y /\ zphi kd W (l1 ++ y :: l2) = e + p * phi kd y.
Proof.
  assert (Sq : forall W v, Forall (Z.le 0) W -> 0 <= zphi Square W v).
  { induction W as [|w W]; destruct v; simpl; intros H; try lra. inversion H as [|? ? A B]; subst. apply IZR_le in A.
    specialize (IHW v B). pose proof (Rle_0_sqr r). unfold Rsqr in *. nra. }
  induction W as [|w W]; intros l1 l2 HW H1 H2. { exists 0, 0, 0. simpl. repeat split; intros; lra. }
  inversion HW as [|? ? A B]; subst. apply IZR_le in A. destruct l1 as [|z l1].
  - exists (dot W l2), (IZR w), (zphi kd W l2). repeat split; auto. now apply dot_pos. intros ->. now apply Sq.
    all: simpl; lra.
  - inversion H1 as [|? ? C G]; subst. destruct (IHW l1 l2 B G H2) as (c & p & e & Hc & Hp & He & K).
    exists (IZR w * z + c), p, (IZR w * phi kd z + e). split; [nra|]. split; [exact Hp|]. split.
    + intros Q. specialize (He Q). subst kd. simpl. pose proof (Rle_0_sqr z). unfold Rsqr in *. nra.
    + intros y. destruct (K y) as [K1 K2]. simpl. rewrite K1, K2. split; ring.
Qed.

(* ---- a function that is convex in each coordinate is at most 0 on a box if it is at the box's corners ---- *)
Lemma corners_enough (F : list R -> R) n a b : a <= b ->
  (forall l1 l2 y, length (l1 ++ y :: l2) = n -> Forall (fun y => a <= y <= b) l1 -> Forall (fun y => a <= y <= b) l2 -> a <= y <= b ->
    F (l1 ++ y :: l2) <= Rmax (F (l1 ++ a :: l2)) (F (l1 ++ b :: l2))) ->
  (forall v, length v = n -> Forall (fun y => y = a \/ y = b) v -> F v <= 0) ->
  forall v, length v = n -> Forall (fun y => a <= y <= b) v -> F v <= 0.
Proof.
  intros Hab HF HC v Lv Hv.
  assert (K : forall l2 l1, Forall (fun y => y = a \/ y = b) l1 -> Forall (fun y => a <= y <= b) l2 -> length (l1 ++ l2) = n -> F (l1 ++ l2) <= 0).
  { induction l2 as [|y l2 IH]; intros l1 H1 H2 L. { rewrite app_nil_r in *. auto. }
    inversion H2 as [|? ? Y H3]; subst. eapply Rle_trans.
    - apply HF; auto. eapply Forall_impl; [|exact H1]. simpl. intros. lra.
    - assert (S : forall y0, y0 = a \/ y0 = b -> F (l1 ++ y0 :: l2) <= 0).
      { intros y0 Y0. replace (l1 ++ y0 :: l2) with ((l1 ++ [y0]) ++ l2) by (rewrite <- app_assoc; reflexivity). apply IH; auto.
        - apply Forall_app. split; auto.
        - rewrite !app_length in *. simpl in *. lia. }
      apply Rmax_lub; apply S; auto. }
  apply (K v []); auto.
Qed.
(* u log u p - (c + p u) log (c + p u) is convex in u *)
Lemma entropic_support T p c v : 0 < T -> 0 <= p -> 0 <= c -> 0 < v -> exists s, forall u, 0 < u ->
  p * xlogx v - T * xlogx ((c + p * v) / T) + s * (u - v) <= p * xlogx u - T * xlogx ((c + p * u) / T).
Proof.
  intros HT Hp Hc Hv. destruct Hp as [Hp|<-]. 2: { exists 0. intros u Hu. rewrite !Rmult_0_l, !Rplus_0_r. lra. }
  exists (p * (ln v - ln ((c + p * v) / T))). intros u Hu. set (X := c + p * u). set (x := c + p * v).
  assert (X0 : 0 < X) by (unfold X; nra). assert (x0 : 0 < x) by (unfold x; nra).
  assert (Q : 0 < X / T /\ 0 < x / T) by (split; apply Rdiv_lt_0_compat; auto). destruct Q as [Q1 Q2].
  assert (R1 : 0 < X / x) by (now apply Rdiv_lt_0_compat). assert (R2 : 0 < v / u) by (now apply Rdiv_lt_0_compat).
  assert (E : ln (X / x) = ln (X / T) - ln (x / T)).
  { replace (X / x) with (X / T * / (x / T)) by (field; lra). rewrite ln_mult, ln_Rinv by auto using Rinv_0_lt_compat. ring. }
  assert (E2 : ln (v / u) = ln v - ln u). { unfold Rdiv. rewrite ln_mult, ln_Rinv by auto using Rinv_0_lt_compat. ring. }
  pose proof (ln_le_sub (X / x) R1) as A. pose proof (ln_le_sub (X / x * (v / u)) ltac:(nra)) as B.
  rewrite ln_mult, E, E2 in B by auto. rewrite E in A.
  apply Rmult_le_compat_l with (r := c) in A; auto. apply Rmult_le_compat_l with (r := p * u) in B; [|nra].
  replace (p * u * (X / x * (v / u) - 1)) with (X - c * (X / x) - p * u) in B by (unfold x, X in *; field; lra).
  unfold phi. replace (T * (x / T * ln (x / T))) with (x * ln (x / T)) by (field; lra).
  replace (T * (X / T * ln (X / T))) with (X * ln (X / T)) by (field; lra).
  set (a := ln (X / T)) in *. set (b := ln (x / T)) in *. unfold X, x in *. nra.
Qed.
(* (e + p u^2) / (c + p u) is convex in u *)
Lemma square_support T p c e v : 0 < T -> 0 <= p -> 0 <= e -> 0 < c + p * v -> exists s, forall u, 0 < c + p * u ->
  (e + p * (v * v)) / ((c + p * v) / T) - (c + p * v) + s * (u - v) <= (e + p * (u * u)) / ((c + p * u) / T) - (c + p * u).
Proof.
  intros HT Hp He Hx. set (x := c + p * v) in *. set (r := v / x).
  exists (T * (- e * p / (x * x) + p * (2 * r - r * r * p)) - p). intros u Hu. set (X := c + p * u) in *.
  assert (A : e * (2 * x - X) / (x * x) <= e / X).
  { apply Rmult_le_reg_r with (X * (x * x)). { repeat apply Rmult_lt_0_compat; auto. }
    replace (e * (2 * x - X) / (x * x) * (X * (x * x))) with (e * (2 * x - X) * X) by (field; lra).
    replace (e / X * (X * (x * x))) with (e * (x * x)) by (field; lra). pose proof (Rle_0_sqr (x - X)). unfold Rsqr in *. nra. }
  assert (B : 2 * r * u - r * r * X <= u * u / X).
  { apply Rmult_le_reg_r with X; auto. replace (u * u / X * X) with (u * u) by (field; lra). pose proof (Rle_0_sqr (u - r * X)). unfold Rsqr in *. nra. }
  apply Rmult_le_compat_l with (r := p) in B; auto.
  replace ((e + p * (u * u)) / (X / T)) with (T * (e / X + p * (u * u / X))) by (field; lra).
  assert (Ev : (e + p * (v * v)) / (x / T) = T * (e / x + p * (v * v / x))) by (field; lra). rewrite Ev.
  assert (I : e * (2 * x - X) / (x * x) + p * (2 * r * u - r * r * X) = e / x + p * (v * v / x) + (- e * p / (x * x) + p * (2 * r - r * r * p)) * (u - v)).
  { unfold r, X. replace c with (x - p * v) by (unfold x; ring). field. lra. }
  assert (J : T * (e * (2 * x - X) / (x * x) + p * (2 * r * u - r * r * X)) <= T * (e / X + p * (u * u / X))) by (apply Rmult_le_compat_l; lra).
  rewrite I in J. assert (x = X + p * (v - u)) by (unfold x, X; ring). lra.
Qed.
