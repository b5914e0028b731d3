(* Enclosures of log in integers over D = 2^160: reduction by powers of two, then the series of artanh with a remainder. *)
Require Import Reals Lra Lia ZArith Psatz.
Open Scope R_scope.

(* ---- the series: ln ((1 + y) / (1 - y)) = 2 (y + y^3 / 3 + y^5 / 5 + ...) ---- *)
Fixpoint ser (n : nat) (y : R) : R := match n with O => 0 | S n => ser n y + y ^ (2 * n + 1) / INR (2 * n + 1) end.
Fixpoint geo (n : nat) (y : R) : R := match n with O => 0 | S n => geo n y + y ^ (2 * n) end.
Lemma geo_eq n y : (1 - y * y) * geo n y = 1 - y ^ (2 * n).
Proof.
  induction n; [simpl; ring|]. replace (2 * S n)%nat with (2 + 2 * n)%nat by lia.
  rewrite pow_add. cbn [geo]. rewrite Rmult_plus_distr_l, IHn. simpl (y ^ 2). ring.
Qed.
Lemma geo_val n y : 0 <= y < 1 -> geo n y = (1 - y ^ (2 * n)) / (1 - y * y).
Proof. intros. rewrite <- geo_eq. field. nra. Qed.
Lemma ser_0 n : ser n 0 = 0.
Proof. induction n; cbn [ser]; auto. rewrite IHn, pow_i by lia. lra. Qed.
Lemma odd_pos n : 0 < INR (2 * n + 1).
Proof. apply lt_0_INR. lia. Qed.
Lemma power_deriv n y : derivable_pt_lim (fun y => y ^ (2 * n + 1) / INR (2 * n + 1)) y (y ^ (2 * n)).
Proof.
  pose proof (odd_pos n) as N. replace (y ^ (2 * n)) with (/ INR (2 * n + 1) * (INR (2 * n + 1) * y ^ pred (2 * n + 1))).
  - pose proof (derivable_pt_lim_scal (fun x => x ^ (2 * n + 1)) (/ INR (2 * n + 1)) y _ (derivable_pt_lim_pow y (2 * n + 1))) as H.
    intros e He. destruct (H e He) as [w Hw]. exists w. intros h A B. specialize (Hw h A B).
    unfold mult_real_fct, Rdiv in *. rewrite !(Rmult_comm (_ ^ _) (/ _)). exact Hw.
  - replace (pred (2 * n + 1)) with (2 * n)%nat by lia. field. lra.
Qed.
Lemma ser_deriv n y : derivable_pt_lim (ser n) y (geo n y).
Proof.
  induction n; cbn [ser geo]. apply derivable_pt_lim_const.
  apply (derivable_pt_lim_plus (ser n) (fun y => y ^ (2 * n + 1) / INR (2 * n + 1))); auto. apply power_deriv.
Qed.
Definition at2 y := ln (1 + y) - ln (1 - y).
Lemma at2_0 : at2 0 = 0.
Proof. unfold at2. rewrite Rplus_0_r, Rminus_0_r. lra. Qed.
Lemma at2_deriv y : -1 < y < 1 -> derivable_pt_lim at2 y (/ (1 + y) - / (1 - y) * (0 - 1)).
Proof.
  intros. apply (derivable_pt_lim_minus (fun y => ln (1 + y)) (fun y => ln (1 - y))).
  - replace (/ (1 + y)) with (/ (1 + y) * (0 + 1)) by ring. apply (derivable_pt_lim_comp (fun y => 1 + y) ln).
    + apply (derivable_pt_lim_plus (fun _ => 1) (fun y => y)). apply derivable_pt_lim_const. apply derivable_pt_lim_id.
    + apply derivable_pt_lim_ln. lra.
  - apply (derivable_pt_lim_comp (fun y => 1 - y) ln).
    + apply (derivable_pt_lim_minus (fun _ => 1) (fun y => y)). apply derivable_pt_lim_const. apply derivable_pt_lim_id.
    + apply derivable_pt_lim_ln. lra.
Qed.
Lemma at2_mean n c y : 0 < y -> y < 1 -> exists z, 0 < z < y /\
  at2 y = 2 * ser n y + c * (y ^ (2 * n + 1) / INR (2 * n + 1)) + z ^ (2 * n) * (2 / (1 - z * z) - c) * y.
Proof.
  intros H H1. set (p := fun y => y ^ (2 * n + 1) / INR (2 * n + 1)).
  destruct (MVT_cor2 (fun y => at2 y - (2 * ser n y + c * p y))
    (fun y => (/ (1 + y) - / (1 - y) * (0 - 1)) - (2 * geo n y + c * y ^ (2 * n))) 0 y H) as (z & E & Hz).
  - intros z Hz. apply (derivable_pt_lim_minus at2 (fun y => 2 * ser n y + c * p y)). apply at2_deriv; lra.
    apply (derivable_pt_lim_plus (fun y => 2 * ser n y) (fun y => c * p y)).
    apply (derivable_pt_lim_scal (ser n)), ser_deriv. apply (derivable_pt_lim_scal p), power_deriv.
  - exists z. split; auto. unfold p in E. pose proof (odd_pos n). rewrite at2_0, ser_0, pow_i, geo_val in E by (lia || lra).
    replace (z ^ (2 * n) * (2 / (1 - z * z) - c))
      with (/ (1 + z) - / (1 - z) * (0 - 1) - (2 * ((1 - z ^ (2 * n)) / (1 - z * z)) + c * z ^ (2 * n))) by (field; repeat split; nra).
    unfold Rdiv in *. lra.
Qed.
Lemma at2_lower n y : 0 <= y < 1 -> 2 * ser n y <= at2 y.
Proof.
  intros [[H|<-] H1]; [|rewrite ser_0, at2_0; lra]. destruct (at2_mean n 0 y H H1) as (z & Hz & ->).
  assert (0 <= z ^ (2 * n) * (2 / (1 - z * z) - 0) * y); [|lra]. assert (0 < 2 / (1 - z * z)) by (apply Rdiv_lt_0_compat; nra).
  repeat apply Rmult_le_pos; try apply pow_le; lra.
Qed.
Lemma at2_upper n y : 0 <= y <= 1 / 2 -> at2 y <= 2 * ser n y + 4 * (y ^ (2 * n + 1) / INR (2 * n + 1)).
Proof.
  intros [[H|<-] H1]; [|rewrite ser_0, at2_0, pow_i by lia; lra]. destruct (at2_mean n 4 y H ltac:(lra)) as (z & Hz & ->).
  assert (0 <= z ^ (2 * n) * (4 - 2 / (1 - z * z)) * y); [|lra]. assert (2 / (1 - z * z) <= 4).
  { apply (Rmult_le_reg_r (1 - z * z)); [nra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra. nra. }
  repeat apply Rmult_le_pos; try apply pow_le; lra.
Qed.

(* ---- integers over D ---- *)
Definition P : Z := 160%Z.
Definition D : Z := (2 ^ 160)%Z.
Definition DR : R := IZR D.
Lemma D_pos : (0 < D)%Z. Proof. reflexivity. Qed.
Lemma DR_pos : 0 < DR. Proof. unfold DR. apply IZR_lt. apply D_pos. Qed.
Global Opaque D.
Lemma div_both a b : (0 < b)%Z -> IZR (a / b) <= IZR a / IZR b <= IZR (a / b + 1).
Proof.
  intros H. assert (H0 : 0 < IZR b) by (now apply IZR_lt). assert (E : IZR a / IZR b * IZR b = IZR a) by (field; lra).
  pose proof (Z.mul_div_le a b H). pose proof (Z.mul_succ_div_gt a b H).
  split; apply (Rmult_le_reg_r (IZR b)); auto; rewrite E, <- mult_IZR; apply IZR_le; lia.
Qed.
Definition div_lower a b H := proj1 (div_both a b H).
Definition div_upper a b H := proj2 (div_both a b H).
(* Floor of a / D, by a shift. *)
Definition half (a : Z) : Z := Z.shiftr a P.
Lemma half_div a : half a = (a / D)%Z.
Proof. unfold half. rewrite Z.shiftr_div_pow2 by discriminate. reflexivity. Qed.
Lemma half_both a : IZR (half a) / DR <= IZR a / DR / DR <= IZR (half a + 1) / DR.
Proof.
  rewrite half_div. split; apply Rmult_le_compat_r; try apply Rlt_le, Rinv_0_lt_compat, DR_pos; apply (div_both a D D_pos).
Qed.
Definition half_lower a := proj1 (half_both a).
Definition half_upper a := proj2 (half_both a).
Fixpoint lo_loop (n : nat) (i pw y2 acc : Z) : Z := match n with
  | O => acc | S n => lo_loop n (i + 2) (half (pw * y2)) y2 (acc + pw / i) end.
Fixpoint hi_loop (n : nat) (i pw y2 acc : Z) : Z := match n with
  | O => acc + 2 * pw | S n => hi_loop n (i + 2) (half (pw * y2) + 1) y2 (acc + (pw / i + 1)) end.
Lemma IZR_odd j : IZR (2 * Z.of_nat j + 1) = INR (2 * j + 1).
Proof. rewrite INR_IZR_INZ. f_equal. lia. Qed.
Lemma pow_next y j : y ^ (2 * S j + 1) = y ^ (2 * j + 1) * (y * y).
Proof. replace (2 * S j + 1)%nat with (2 * j + 1 + 2)%nat by lia. rewrite pow_add. simpl (y ^ 2). ring. Qed.
Lemma lo_loop_ok y y2 : 0 <= y -> 0 <= IZR y2 -> IZR y2 / DR <= y * y -> forall n j pw acc,
  0 <= IZR pw -> IZR pw / DR <= y ^ (2 * j + 1) ->
  IZR (lo_loop n (2 * Z.of_nat j + 1) pw y2 acc) / DR <= IZR acc / DR + (ser (j + n) y - ser j y).
Proof.
  intros Hy H0 H2. pose proof DR_pos as DP. assert (DI : 0 < / DR) by (apply Rinv_0_lt_compat; lra).
  induction n; intros j pw acc P0 H; cbn [lo_loop]; [rewrite Nat.add_0_r; lra|].
  replace (2 * Z.of_nat j + 1 + 2)%Z with (2 * Z.of_nat (S j) + 1)%Z by lia.
  assert (Hn : 0 <= IZR (half (pw * y2))).
  { rewrite half_div. apply IZR_le, Z.div_pos; [|apply D_pos]. apply le_IZR in P0. apply le_IZR in H0. nia. }
  assert (Hp : IZR (half (pw * y2)) / DR <= y ^ (2 * S j + 1)).
  { eapply Rle_trans; [apply half_lower|]. rewrite pow_next, mult_IZR.
    replace (IZR pw * IZR y2 / DR / DR) with (IZR pw / DR * (IZR y2 / DR)) by (field; lra).
    unfold Rdiv in *. apply Rmult_le_compat; auto; apply Rmult_le_pos; lra. }
  specialize (IHn (S j) _ (acc + pw / (2 * Z.of_nat j + 1))%Z Hn Hp).
  eapply Rle_trans; [exact IHn|]. cbn [ser]. replace (j + S n)%nat with (S j + n)%nat by lia.
  pose proof (div_lower pw (2 * Z.of_nat j + 1) ltac:(lia)) as L. rewrite IZR_odd in L. rewrite plus_IZR.
  pose proof (Rinv_0_lt_compat _ (odd_pos j)) as I.
  assert (IZR (pw / (2 * Z.of_nat j + 1)) / DR <= y ^ (2 * j + 1) / INR (2 * j + 1)).
  { apply Rle_trans with (IZR pw / DR / INR (2 * j + 1)); unfold Rdiv in *.
    apply Rmult_le_compat_r with (r := / DR) in L; lra. apply Rmult_le_compat_r; lra. }
  unfold Rdiv in *. lra.
Qed.
Lemma hi_loop_ok y y2 : 0 <= y -> y * y <= IZR y2 / DR -> forall n j pw acc, y ^ (2 * j + 1) <= IZR pw / DR ->
  IZR acc / DR + (ser (j + n) y - ser j y) + 2 * (y ^ (2 * (j + n) + 1) / INR (2 * (j + n) + 1))
  <= IZR (hi_loop n (2 * Z.of_nat j + 1) pw y2 acc) / DR.
Proof.
  intros Hy H2. pose proof DR_pos as DP. assert (DI : 0 < / DR) by (apply Rinv_0_lt_compat; lra).
  induction n; intros j pw acc H; cbn [hi_loop].
  - rewrite Nat.add_0_r, plus_IZR, mult_IZR. assert (I : 1 <= INR (2 * j + 1)) by (apply (le_INR 1); lia).
    assert (Y : 0 <= y ^ (2 * j + 1)) by (apply pow_le; lra).
    assert (y ^ (2 * j + 1) / INR (2 * j + 1) <= y ^ (2 * j + 1)).
    { apply (Rmult_le_reg_r (INR (2 * j + 1))); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
    unfold Rdiv in *. lra.
  - replace (2 * Z.of_nat j + 1 + 2)%Z with (2 * Z.of_nat (S j) + 1)%Z by lia.
    assert (Y : 0 <= y ^ (2 * j + 1)) by (apply pow_le; lra).
    assert (Hp : y ^ (2 * S j + 1) <= IZR (half (pw * y2) + 1) / DR).
    { eapply Rle_trans; [|apply half_upper]. rewrite pow_next, mult_IZR.
      replace (IZR pw * IZR y2 / DR / DR) with (IZR pw / DR * (IZR y2 / DR)) by (field; lra).
      apply Rmult_le_compat; auto; nra. }
    specialize (IHn (S j) _ (acc + (pw / (2 * Z.of_nat j + 1) + 1))%Z Hp).
    replace (j + S n)%nat with (S j + n)%nat by lia. eapply Rle_trans; [|exact IHn]. cbn [ser].
    pose proof (div_upper pw (2 * Z.of_nat j + 1) ltac:(lia)) as L. rewrite IZR_odd in L. rewrite plus_IZR.
    pose proof (Rinv_0_lt_compat _ (odd_pos j)) as I.
    assert (y ^ (2 * j + 1) / INR (2 * j + 1) <= IZR (pw / (2 * Z.of_nat j + 1) + 1) / DR).
    { apply Rle_trans with (IZR pw / DR / INR (2 * j + 1)); unfold Rdiv in *.
      apply Rmult_le_compat_r; lra. apply Rmult_le_compat_r with (r := / DR) in L; lra. }
    unfold Rdiv in *. lra.
Qed.
Definition nterms := 52%nat.
Global Opaque nterms.
(* ln (n / d) for d <= n <= 3 d: its upper end, or its lower end *)
Definition ln_red (up : bool) (n d : Z) : Z := let y := ((n - d) * D / (n + d))%Z in
  if up then let z := (y + 1)%Z in (2 * hi_loop nterms 1 z (half (z * z) + 1) 0)%Z else (2 * lo_loop nterms 1 y (half (y * y)) 0)%Z.
Lemma ln_red_ok n d : (0 < d <= n)%Z -> (n <= 3 * d)%Z ->
  IZR (ln_red false n d) / DR <= ln (IZR n / IZR d) <= IZR (ln_red true n d) / DR.
Proof.
  intros H H3. pose proof DR_pos as DP. assert (DI : 0 < / DR) by (apply Rinv_0_lt_compat; lra).
  assert (d0 : 0 < IZR d) by (apply IZR_lt; lia). assert (n0 : IZR d <= IZR n) by (apply IZR_le; lia).
  assert (n3 : IZR n <= 3 * IZR d) by (rewrite <- mult_IZR; apply IZR_le; lia).
  set (y := (IZR n - IZR d) / (IZR n + IZR d)).
  assert (SI : 0 < / (IZR n + IZR d)) by (apply Rinv_0_lt_compat; lra).
  assert (Y0 : 0 <= y) by (apply Rmult_le_pos; lra).
  assert (Y1 : y <= 1 / 2).
  { apply (Rmult_le_reg_r (IZR n + IZR d)); [lra|]. unfold y, Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (E : ln (IZR n / IZR d) = at2 y).
  { unfold at2. replace (1 + y) with (IZR n * (2 * / (IZR n + IZR d))) by (unfold y; field; lra).
    replace (1 - y) with (IZR d * (2 * / (IZR n + IZR d))) by (unfold y; field; lra).
    unfold Rdiv. rewrite !(ln_mult _ (2 * _)), ln_mult, ln_Rinv; try lra. now apply Rinv_0_lt_compat. }
  rewrite E. unfold ln_red. set (u := ((n - d) * D / (n + d))%Z).
  assert (E1 : y = IZR ((n - d) * D) / IZR (n + d) / DR) by (rewrite mult_IZR, minus_IZR, plus_IZR; fold DR; unfold y; field; lra).
  assert (L : IZR u / DR <= y).
  { rewrite E1. apply Rmult_le_compat_r; [lra|]. apply div_lower. lia. }
  assert (U : y <= IZR (u + 1) / DR).
  { rewrite E1. apply Rmult_le_compat_r; [lra|]. apply div_upper. lia. }
  assert (P0 : 0 <= IZR u). { apply IZR_le, Z.div_pos; try lia. pose proof D_pos. nia. }
  assert (L0 : 0 <= IZR u / DR) by (apply Rmult_le_pos; lra).
  assert (Q0 : 0 <= IZR (half (u * u))).
  { rewrite half_div. apply IZR_le, Z.div_pos; [nia|apply D_pos]. }
  split.
  - eapply Rle_trans; [|apply (at2_lower nterms); lra].
    assert (A1 : IZR (half (u * u)) / DR <= y * y).
    { eapply Rle_trans; [apply half_lower|]. rewrite mult_IZR.
      replace (IZR u * IZR u / DR / DR) with (IZR u / DR * (IZR u / DR)) by (field; lra). apply Rmult_le_compat; lra. }
    pose proof (lo_loop_ok y (half (u * u)) Y0 Q0 A1 nterms 0 u 0%Z P0) as Q.
    simpl (2 * 0 + 1)%nat in Q. rewrite pow_1 in Q. specialize (Q L). simpl (2 * Z.of_nat 0 + 1)%Z in Q.
    rewrite Nat.add_0_l in Q. simpl (ser 0 y) in Q. rewrite mult_IZR. unfold Rdiv in *. lra.
  - eapply Rle_trans; [apply (at2_upper nterms); lra|].
    assert (A1 : y * y <= IZR (half ((u + 1) * (u + 1)) + 1) / DR).
    { eapply Rle_trans; [|apply half_upper]. rewrite mult_IZR.
      replace (IZR (u + 1) * IZR (u + 1) / DR / DR) with (IZR (u + 1) / DR * (IZR (u + 1) / DR)) by (field; lra).
      apply Rmult_le_compat; lra. }
    pose proof (hi_loop_ok y _ Y0 A1 nterms 0 (u + 1) 0%Z) as Q.
    simpl (2 * 0 + 1)%nat in Q. rewrite pow_1 in Q. specialize (Q U). simpl (2 * Z.of_nat 0 + 1)%Z in Q.
    rewrite Nat.add_0_l in Q. simpl (ser 0 y) in Q. rewrite mult_IZR. unfold Rdiv in *. lra.
Qed.
Definition ln2_below := ln_red false 2 1.
Definition ln2_above := ln_red true 2 1.
Definition ln2 (up : bool) := if up then ln2_above else ln2_below.
Lemma ln2_ok : IZR (ln2 false) / DR <= ln 2 <= IZR (ln2 true) / DR.
Proof. replace (ln 2) with (ln (IZR 2 / IZR 1)) by (f_equal; lra). apply ln_red_ok; lia. Qed.

(* An end of ln (n / d); None where an argument is not positive, or a reduction that is not proved to work does not. *)
Definition log_try (up : bool) (n d j : Z) : option Z :=
  let n' := Z.shiftl n (Z.max 0 (- j)) in let d' := Z.shiftl d (Z.max 0 j) in
  if ((d' <=? n') && (n' <=? 3 * d'))%Z%bool then Some (ln_red up n' d' + j * ln2 (if 0 <=? j then up else negb up))%Z else None.
Definition log (up : bool) (n d : Z) : option Z :=
  if ((n <=? 0) || (d <=? 0))%Z%bool then None else if (n =? d)%Z then Some 0%Z else
  let j := (Z.log2 n - Z.log2 d)%Z in
  match log_try up n d j with Some r => Some r | None => log_try up n d (j - 1) end.
Notation log_below := (log false).
Notation log_above := (log true).
Definition is_end (up : bool) (l : Z) (x : R) := if up then x <= IZR l / DR else IZR l / DR <= x.
Lemma Some_inj {A} (a b : A) : Some a = Some b -> a = b. Proof. congruence. Qed.
Global Opaque ln_red ln2.
Lemma pow2_R j : (0 <= j)%Z -> ln (IZR (2 ^ j)) = IZR j * ln 2 /\ 0 < IZR (2 ^ j).
Proof.
  intros H. rewrite <- (Z2Nat.id j) by lia. generalize (Z.to_nat j). clear. intros n.
  split. 2: apply IZR_lt, Z.pow_pos_nonneg; lia. induction n. { simpl. rewrite ln_1. lra. }
  rewrite Nat2Z.inj_succ, Z.pow_succ_r, mult_IZR, ln_mult, IHn, succ_IZR
    by (try lia; try lra; apply IZR_lt, Z.pow_pos_nonneg; lia). ring.
Qed.
Lemma log_try_ok up n d j l : (0 < n)%Z -> (0 < d)%Z -> log_try up n d j = Some l -> is_end up l (ln (IZR n / IZR d)).
Proof.
  intros Gn Gd. unfold log_try. rewrite !Z.shiftl_mul_pow2 by lia.
  set (n' := (n * 2 ^ Z.max 0 (- j))%Z). set (d' := (d * 2 ^ Z.max 0 j)%Z).
  destruct ((d' <=? n') && (n' <=? 3 * d'))%Z%bool eqn:C; [|discriminate].
  apply andb_prop in C. destruct C as [C1 C2]. apply Z.leb_le in C1, C2. intros Q. apply Some_inj in Q.
  pose proof DR_pos as DP. assert (DI : 0 < / DR) by (apply Rinv_0_lt_compat; lra).
  assert (0 < d')%Z by (unfold d'; apply Z.mul_pos_pos; [lia|apply Z.pow_pos_nonneg; lia]).
  pose proof (ln_red_ok n' d' ltac:(lia) C2) as [A B]. pose proof ln2_ok as [A2 B2].
  assert (Rn : 0 < IZR n) by (now apply IZR_lt). assert (Rd : 0 < IZR d) by (now apply IZR_lt).
  assert (E : ln (IZR n / IZR d) = ln (IZR n' / IZR d') + IZR j * ln 2).
  { unfold n', d'. rewrite !mult_IZR. destruct (pow2_R (Z.max 0 (- j)) ltac:(lia)) as [E1 X1].
    destruct (pow2_R (Z.max 0 j) ltac:(lia)) as [E2 X2].
    unfold Rdiv. rewrite !ln_mult, !ln_Rinv, !ln_mult, E1, E2; auto using Rinv_0_lt_compat, Rmult_lt_0_compat.
    destruct (Z.le_ge_cases 0 j). rewrite (Z.max_l 0 (- j)), (Z.max_r 0 j) by lia. lra.
    rewrite (Z.max_r 0 (- j)), (Z.max_l 0 j), opp_IZR by lia. lra. }
  subst l. rewrite E. unfold is_end. destruct up, (Z.leb_spec 0 j) as [J|J]; simpl negb; rewrite !plus_IZR, !mult_IZR; unfold Rdiv in *;
    rewrite !Rmult_plus_distr_r, !Rmult_assoc; apply Rplus_le_compat; auto; apply IZR_le in J || apply IZR_lt in J;
    first [apply Rmult_le_compat_l; [|assumption]; lra | apply Rmult_le_compat_neg_l; [|assumption]; lra].
Qed.
Lemma log_ok up n d l : log up n d = Some l -> (0 < n)%Z /\ (0 < d)%Z /\ is_end up l (ln (IZR n / IZR d)).
Proof.
  unfold log. destruct (((n <=? 0) || (d <=? 0))%Z%bool) eqn:G; [discriminate|].
  apply Bool.orb_false_iff in G. destruct G as [Gn Gd]. apply Z.leb_gt in Gn, Gd. destruct (Z.eqb_spec n d) as [->|].
  { intros H. apply Some_inj in H. subst l. repeat split; auto. unfold is_end, Rdiv. rewrite Rinv_r, ln_1 by (apply IZR_lt in Gd; lra). destruct up; lra. }
  intros H. repeat split; auto. destruct (log_try up n d (Z.log2 n - Z.log2 d)) as [r|] eqn:T; [apply Some_inj in H; subst r|]; eapply log_try_ok; eauto.
Qed.
