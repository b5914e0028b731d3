(* Renyi divergences of rows: a tangent of v^a gives a row, by Young's inequality, and moments of a matrix are bounded one by one; of all
   orders at once by those of some, as their logarithm is convex in the order. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant.
Import ListNotations.
Open Scope R_scope.

(* ---- the check ---- *)
Open Scope Z_scope.
(* The limit at an order n / d, as p and q. *)
Definition limit_at v (n d : Z) : option (Z * Z) := match v with
  | Renyi (a, b) (p, q) => if (n * b =? a * d) && (0 <? b) && (0 <? q) then Some (p, q) else None
  | Concentrated (p, q) => if 0 <? q then Some (p * n, q * d) else None end.
(* A number s of row x and b of row z for each output; n / d the order, r the right side, p / q the limit. *)
Fixpoint young_terms (x z n d r p q y : Z) (l : list Z) : option terms := match l with [] => Some []
  | s :: b :: l => match young_terms x z n d r p q (y + 1) l with None => None | Some ts =>
      if s =? 0 then if 0 <=? b then Some ((z, y, - b) :: ts) else None else match log_below b D, log_above (n - d) d, log_above (s * d) (n * D), log_below r D with
      | Some lb, Some l1, Some ls, Some lr => if (0 <? s) && (D * (n - d) * p <=? ((n - d) * (lb - l1) - n * ls + d * lr) * q) then Some ((x, y, s) :: (z, y, - b) :: ts) else None
      | _, _, _, _ => None end end
  | _ => None end.
Definition young_row k v (l : list Z) : option row := match l with x :: z :: n :: d :: r :: l =>
    if (0 <=? x) && (x <? k) && (0 <=? z) && (z <? k) && negb (x =? z) && (0 <? d) && (d <? n) && (0 <? r) then match limit_at v n d with
      | Some (p, q) => match young_terms x z n d r p q 0 l with Some ts => Some (Row false r ts) | None => None end | None => None end else None
  | _ => None end.

(* The sum of numbers over D that are at least the moments of each output. *)
Fixpoint moments_sum (n d dn : Z) (rx rz ms : list Z) : option Z := match rx, rz, ms with
  | [], [], [] => Some 0
  | a :: rx, b :: rz, m :: ms => match moments_sum n d dn rx rz ms with None => None | Some s =>
      if a =? 0 then if 0 <=? m then Some (m + s) else None else match log_below m D, log_above a dn, log_above a b with
      | Some lm, Some la, Some lab => if d * la + (n - d) * lab <=? d * lm then Some (m + s) else None | _, _, _ => None end end
  | _, _, _ => None end.
(* The line that touches r t (t - 1) at c / D, r = p / q, is at order n / d at least the logarithm of s / D. *)
Definition line_above (p q n d s c : Z) : bool := match log_above s D with Some u => u * q * d * D <=? p * ((2 * c * D - D * D) * n - c * c * d) | None => false end.
(* Orders with the places where lines touch, and the moments of one pair of rows for each. *)
Fixpoint all2z (f : Z -> Z -> bool) (l m : list Z) : bool := match l, m with [], [] => true | a :: l, b :: m => f a b && all2z f l m | _, _ => false end.
Fixpoint orders_there (p q dn : Z) (rx rz : list Z) (n0 d0 s0 : Z) (os : list (Z * Z * Z)) (ms : list (list Z)) : bool := match os, ms with
  | [], [] => all2z (fun a b => (a =? 0) || match log_above a b with Some u => u * q * d0 <=? D * p * n0 | None => false end) rx rz
  | (n, d, c) :: os, m :: ms => match moments_sum n d dn rx rz m with Some s =>
      (0 <? d) && (n0 * d <? n * d0) && line_above p q n0 d0 s0 c && line_above p q n d s c && orders_there p q dn rx rz n d s os ms | None => false end
  | _, _ => false end.
Definition divergence_of v (dn : Z) (os : list (Z * Z * Z)) (rx rz : list Z) (ms : list (list Z)) : bool := match v, os, ms with
  | Renyi _ _, [(n, d, _)], [m] => match limit_at v n d, moments_sum n d dn rx rz m with
      | Some (p, q), Some s => match log_above s D with Some u => (0 <? d) && (d <? n) && (u * d * q <=? D * (n - d) * p) | None => false end | _, _ => false end
  | Concentrated (p, q), _, _ => (0 <=? p) && (0 <? q) && orders_there p q dn rx rz 1 1 D os ms
  | _, _, _ => false end.
Fixpoint others_there (f : list Z -> list Z -> list (list Z) -> bool) (w : nat) x (i j : Z) (rs ls : list (list Z)) : option (list (list Z)) := match rs with [] => Some ls
  | r :: rs => if i =? j then others_there f w x i (j + 1) rs ls else if f x r (firstn w ls) then others_there f w x i (j + 1) rs (skipn w ls) else None end.
Fixpoint rows_there f (w : nat) (all : list (list Z)) (i : Z) (rs ls : list (list Z)) : option (list (list Z)) := match rs with [] => Some ls
  | r :: rs => match others_there f w r i 0 all ls with Some ls => rows_there f w all (i + 1) rs ls | None => None end end.
Fixpoint in_threes (l : list Z) : option (list (Z * Z * Z)) := match l with [] => Some []
  | a :: b :: c :: l => match in_threes l with Some r => Some ((a, b, c) :: r) | None => None end | _ => None end.
(* rs: the rows of the matrix over dn *)
Definition divergence_there dn rs v (shown : list Z * list (list Z)) : bool := match in_threes (fst shown) with None => false | Some os =>
  match rows_there (divergence_of v dn os) (length os) rs 0 rs (snd shown) with Some [] => true | _ => false end end.
Close Scope Z_scope.

(* ---- a row for each tangent ---- *)
Lemma exp_means t p q : 0 <= t <= 1 -> exp (t * p + (1 - t) * q) <= t * exp p + (1 - t) * exp q.
Proof.
  intros H. set (m := t * p + (1 - t) * q). assert (K : forall z, exp m * (1 + (z - m)) <= exp z).
  { intros z. pose proof (exp_ineq1_le (z - m)) as E. pose proof (exp_pos m). replace (exp z) with (exp m * exp (z - m)) by (rewrite <- exp_plus; f_equal; lra). apply Rmult_le_compat_l; lra. }
  pose proof (K p) as K1. pose proof (K q) as K2. apply Rmult_le_compat_l with (r := t) in K1; [|lra]. apply Rmult_le_compat_l with (r := 1 - t) in K2; [|lra].
  assert (E : t * (exp m * (1 + (p - m))) + (1 - t) * (exp m * (1 + (q - m))) = exp m) by (unfold m; ring). lra.
Qed.
Definition power a u v := if Rlt_dec 0 u then Rpower u a * Rpower v (1 - a) else 0.
Lemma power_exp a u v : 0 < u -> power a u v = exp (a * ln u + (1 - a) * ln v).
Proof. intros H. unfold power. destruct (Rlt_dec 0 u); [|lra]. unfold Rpower. now rewrite <- exp_plus. Qed.
Lemma young a s b r E u v : 1 < a -> 0 < s -> 0 < b -> 0 < r -> 0 <= u -> 0 <= v -> (0 < u -> 0 < v) ->
  (a - 1) * ln (a - 1) + a * (ln s - ln a) + E - ln r <= (a - 1) * ln b -> s * u - b * v <= r * exp (- E) * power a u v.
Proof.
  intros Ha Hs Hb Hr Hu Hv P H. destruct Hu as [Hu|<-]. 2: { unfold power. destruct (Rlt_dec 0 0); [lra|]. pose proof (Rmult_le_pos b v). lra. } specialize (P Hu). rewrite power_exp by auto.
  set (p := ln r - E + (a * ln u + (1 - a) * ln v) + ln a). set (q := ln b + ln v + (ln a - ln (a - 1))). pose proof (exp_means (/ a) p q) as K. assert (A0 : 0 < / a) by (apply Rinv_0_lt_compat; lra). assert (A1 : / a <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra). specialize (K ltac:(lra)).
  assert (EP : exp p = a * (r * exp (- E) * exp (a * ln u + (1 - a) * ln v))). { unfold p. unfold Rminus. rewrite !exp_plus, !exp_ln by lra. ring. }
  assert (EQ : exp q = a / (a - 1) * (b * v)). { unfold q, Rminus. rewrite !exp_plus, !exp_ln, exp_Ropp, exp_ln by lra. field. lra. }
  assert (EM : s * u <= exp (/ a * p + (1 - / a) * q)). { replace (s * u) with (exp (ln s + ln u)) by (rewrite exp_plus, !exp_ln; auto). apply exp_le. apply (Rmult_le_reg_l a); [lra|]. replace (a * (/ a * p + (1 - / a) * q)) with (p + (a - 1) * q) by (field; lra). unfold p, q. lra. }
  rewrite EP, EQ in K. set (M := r * exp (- E) * exp _) in *. replace (/ a * (a * M) + (1 - / a) * (a / (a - 1) * (b * v))) with (M + b * v) in K by (field; lra). lra.
Qed.
Lemma moment_power a x z Q : moment a x z Q = total (fun q => power a (entry x q) (entry z q)) Q.
Proof. reflexivity. Qed.
Lemma power_pos a u v : 0 <= power a u v.
Proof. unfold power. destruct (Rlt_dec 0 u); [|lra]. unfold Rpower. apply Rlt_le, Rmult_lt_0_compat; apply exp_pos. Qed.
Lemma young_terms_ok x z n d0 r p q Q : (0 <= x)%Z -> (0 <= z)%Z -> (0 < d0 < n)%Z -> (0 < r)%Z -> (0 < q)%Z -> Forall (Forall (Rle 0)) Q -> Forall (fun c => 0 < entry x c -> 0 < entry z c) Q ->
  forall m l y ts, (length l <= m)%nat -> (0 <= y)%Z -> young_terms x z n d0 r p q y l = Some ts ->
  form ts Q <= IZR r * exp (- ((IZR n / IZR d0 - 1) * (IZR p / IZR q))) * moment (IZR n / IZR d0) x z (skipn (Z.to_nat y) Q).
Proof.
  intros Hx Hz Hn Hr Hq N P. set (a := IZR n / IZR d0). set (C := IZR r * exp _). pose proof DR_pos as DP. pose proof d_pos as dp. pose proof DRd as DD. destruct Hn as [D0 N0]. pose proof Hr as r1. apply IZR_lt in D0, N0, r1, Hq. assert (A1 : 1 < a). { unfold a. apply (Rmult_lt_reg_r (IZR d0)); auto. replace (IZR n / IZR d0 * IZR d0) with (IZR n) by (field; lra). lra. }
  assert (C0 : 0 <= C). { unfold C. pose proof (exp_pos (- ((a - 1) * (IZR p / IZR q)))). nra. }
  assert (MP : forall Q', 0 <= C * moment a x z Q'). { intros Q'. apply Rmult_le_pos; auto. rewrite moment_power. induction Q' as [|c Q' IH]; simpl; [lra|]. pose proof (power_pos a (entry x c) (entry z c)). lra. }
  assert (V : forall y, 0 <= cell Q x y /\ 0 <= cell Q z y /\ (0 < cell Q x y -> 0 < cell Q z y)). { intros y. unfold cell. destruct (nth_in_or_default (Z.to_nat y) Q []) as [I| ->].
    - rewrite Forall_forall in N, P. repeat split; auto using entry_nonneg. - unfold entry. destruct (Z.to_nat x), (Z.to_nat z); simpl; repeat split; lra. }
  assert (K : forall Q n, moment a x z (skipn n Q) = power a (entry x (nth n Q [])) (entry z (nth n Q [])) + moment a x z (skipn (S n) Q)).
  { clear. assert (E0 : power a (entry x []) (entry z []) = 0) by (unfold power, entry; destruct (Z.to_nat x); simpl; destruct (Rlt_dec 0 0); lra). intros Q i. rewrite !moment_power. revert Q. induction i; intros [|c Q].
    - simpl. rewrite E0. lra. - reflexivity. - simpl. rewrite E0. lra. - exact (IHi Q). }
  induction m as [|m IH]; intros l y ts Lm Hy E. { destruct l; [|simpl in Lm; lia]. simpl in E. apply Some_inj in E. subst. unfold form. simpl. apply MP. }
  destruct l as [|s [|b l]]; cbn [young_terms] in E; try discriminate. { apply Some_inj in E. subst. unfold form. simpl. apply MP. } destruct (young_terms x z n d0 r p q (y + 1) l) as [ts'|] eqn:T; [|discriminate].
  specialize (IH l (y + 1)%Z ts' ltac:(simpl in Lm; lia) ltac:(lia) T). replace (Z.to_nat (y + 1)) with (S (Z.to_nat y)) in IH by lia. rewrite K. fold (cell Q x y) (cell Q z y). destruct (V y) as (V1 & V2 & V3). pose proof (power_pos a (cell Q x y) (cell Q z y)) as P0. set (pw := power a _ _) in *. rewrite Rmult_plus_distr_l. set (rest := C * moment a x z _) in *.
  assert (PC : 0 <= C * pw) by (now apply Rmult_le_pos). destruct (Z.eqb_spec s 0) as [->|S0].
  - destruct (Z.leb_spec 0 b) as [B0|]; [|discriminate]. apply Some_inj in E. subst ts. change (form ((z, y, - b)%Z :: ts') Q) with (IZR (- b) * cell Q z y + form ts' Q). rewrite opp_IZR. apply IZR_le in B0. pose proof (Rmult_le_pos _ _ B0 V2). lra.
  - destruct (log_below b D) as [lb|] eqn:LB; [|discriminate]. destruct (log_above (n - d0) d0) as [l1|] eqn:L1; [|discriminate]. destruct (log_above (s * d0) (n * D)) as [ls|] eqn:LS; [|discriminate]. destruct (log_below r D) as [lr|] eqn:LR; [|discriminate].
    destruct (Z.ltb_spec 0 s) as [s0|]; [|discriminate]. cbn [andb] in E. match type of E with (if ?c then _ else _) = _ => destruct c eqn:EC; [|discriminate] end. apply Z.leb_le, IZR_le in EC. apply Some_inj in E. subst ts.
    apply log_ok in LB, L1, LS, LR. destruct LB as (b0 & _ & LB), L1 as (n1 & _ & L1), LS as (_ & _ & LS), LR as (_ & _ & LR). unfold is_end in *. fold DR in LB, L1, LS, LR. apply IZR_lt in s0, b0, n1. repeat rewrite ?mult_IZR, ?minus_IZR, ?plus_IZR in *. fold DR in *.
    change (form ((x, y, s) :: (z, y, - b)%Z :: ts') Q) with (IZR s * cell Q x y + (IZR (- b) * cell Q z y + form ts' Q)). rewrite opp_IZR.
    assert (nr : 0 < IZR n) by lra. assert (Y : IZR s * d * cell Q x y - IZR b * d * cell Q z y <= IZR r * d * exp (- ((a - 1) * (IZR p / IZR q))) * pw).
    { apply (young a); auto; try nra. assert (LD : ln d = - ln DR). { apply ln_Rinv. auto. } rewrite !ln_mult by auto. rewrite LD.
      replace (IZR b / DR) with (IZR b * d) in LB by reflexivity. replace (IZR r / DR) with (IZR r * d) in LR by reflexivity. rewrite ln_mult, LD in LB, LR by auto.
      assert (A2 : ln (a - 1) <= IZR l1 / DR). { replace (a - 1) with ((IZR n - IZR d0) / IZR d0) by (unfold a; field; lra). exact L1. }
      assert (A3 : ln (IZR s) - ln DR - ln a <= IZR ls / DR). { eapply Rle_trans; [|exact LS]. right. replace (IZR s * IZR d0 / (IZR n * DR)) with (IZR s * / DR * / a) by (unfold a; field; repeat split; lra). rewrite ln_mult, ln_mult, !ln_Rinv; auto; try lra; try (apply Rinv_0_lt_compat; lra). apply Rmult_lt_0_compat; auto. }
      apply (Rmult_le_reg_r (IZR d0 * IZR q * DR)). { apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; auto. }
      assert (AD : a * IZR d0 = IZR n) by (unfold a; field; lra). assert (PQ : IZR p / IZR q * IZR q = IZR p) by (field; lra).
      set (X1 := ln (a - 1)) in *. set (X2 := ln (IZR s)) in *. set (X3 := ln (IZR b)) in *. set (X4 := ln (IZR r)) in *. set (X5 := ln DR) in *. set (X6 := ln a) in *.
      assert (B1 : X1 * DR <= IZR l1). { apply Rmult_le_compat_r with (r := DR) in A2; [|lra]. replace (IZR l1 / DR * DR) with (IZR l1) in A2 by (field; lra). exact A2. }
      assert (B2 : (X2 - X5 - X6) * DR <= IZR ls). { apply Rmult_le_compat_r with (r := DR) in A3; [|lra]. replace (IZR ls / DR * DR) with (IZR ls) in A3 by (field; lra). exact A3. }
      assert (B3 : IZR lb <= (X3 + - X5) * DR). { apply Rmult_le_compat_r with (r := DR) in LB; [|lra]. replace (IZR lb / DR * DR) with (IZR lb) in LB by (field; lra). exact LB. }
      assert (B4 : IZR lr <= (X4 + - X5) * DR). { apply Rmult_le_compat_r with (r := DR) in LR; [|lra]. replace (IZR lr / DR * DR) with (IZR lr) in LR by (field; lra). exact LR. }
      replace (((a - 1) * X1 + a * (X2 + - X5 - X6) + (a - 1) * (IZR p / IZR q) - (X4 + - X5)) * (IZR d0 * IZR q * DR)) with (IZR q * ((a * IZR d0 - IZR d0) * (X1 * DR) + a * IZR d0 * ((X2 - X5 - X6) * DR) - IZR d0 * ((X4 + - X5) * DR)) + (a * IZR d0 - IZR d0) * (IZR p / IZR q * IZR q) * DR) by ring.
      replace ((a - 1) * (X3 + - X5) * (IZR d0 * IZR q * DR)) with (IZR q * ((a * IZR d0 - IZR d0) * ((X3 + - X5) * DR))) by ring. rewrite AD, PQ.
      assert (C1 : (IZR n - IZR d0) * (X1 * DR) <= (IZR n - IZR d0) * IZR l1) by (apply Rmult_le_compat_l; lra). assert (C2 : IZR n * ((X2 - X5 - X6) * DR) <= IZR n * IZR ls) by (apply Rmult_le_compat_l; lra).
      assert (C3 : (IZR n - IZR d0) * IZR lb <= (IZR n - IZR d0) * ((X3 + - X5) * DR)) by (apply Rmult_le_compat_l; lra). assert (C4 : IZR d0 * IZR lr <= IZR d0 * ((X4 + - X5) * DR)) by (apply Rmult_le_compat_l; lra).
      set (G1 := (IZR n - IZR d0) * (X1 * DR)) in *. set (G2 := IZR n * ((X2 - X5 - X6) * DR)) in *. set (G3 := (IZR n - IZR d0) * ((X3 + - X5) * DR)) in *. set (G4 := IZR d0 * ((X4 + - X5) * DR)) in *.
      assert (S1 : IZR q * (G1 + G2 - G4) <= IZR q * ((IZR n - IZR d0) * IZR l1 + IZR n * IZR ls - IZR d0 * IZR lr)) by (apply Rmult_le_compat_l; lra). assert (S3 : IZR q * ((IZR n - IZR d0) * IZR lb) <= IZR q * G3) by (apply Rmult_le_compat_l; lra). lra. }
    apply Rmult_le_compat_r with (r := DR) in Y; [|lra]. replace ((IZR s * d * cell Q x y - IZR b * d * cell Q z y) * DR) with ((IZR s * cell Q x y - IZR b * cell Q z y) * (DR * d)) in Y by ring.
    replace (IZR r * d * exp (- ((a - 1) * (IZR p / IZR q))) * pw * DR) with (C * pw * (DR * d)) in Y by (unfold C; ring). rewrite DD in Y. lra.
Qed.
Lemma limit_at_ok v n d p q k Q : limit_at v n d = Some (p, q) -> (0 < d < n)%Z -> near_enough k Q v -> (0 < q)%Z /\ apart_at_most k (IZR n / IZR d) Q (IZR p / IZR q).
Proof.
  intros E [D0 N0] H. destruct v as [[a b] [p' q']|[p' q']]; cbn [limit_at near_enough] in *.
  - match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. split_and C. apply Z.eqb_eq in C. apply Z.ltb_lt in C0, C1. apply Some_inj in E. injection E as <- <-. split; auto. unfold quotient in H. cbn [fst snd] in H.
    replace (IZR n / IZR d) with (IZR a / IZR b); auto. apply IZR_lt in D0, C1. apply (f_equal IZR) in C. rewrite !mult_IZR in C. apply (Rmult_eq_reg_r (IZR d * IZR b)); [|apply Rmult_integral_contrapositive; split; lra]. replace (IZR a / IZR b * (IZR d * IZR b)) with (IZR a * IZR d) by (field; lra). replace (IZR n / IZR d * (IZR d * IZR b)) with (IZR n * IZR b) by (field; lra). lra.
  - destruct (Z.ltb_spec 0 q') as [Q0|]; [|discriminate]. apply Some_inj in E. injection E as <- <-. split; [nia|]. apply IZR_lt in D0, N0, Q0. rewrite !mult_IZR. unfold quotient in H. cbn [fst snd] in H.
    replace (IZR p' * IZR n / (IZR q' * IZR d)) with (IZR p' / IZR q' * (IZR n / IZR d)) by (field; lra). apply H. apply (Rmult_lt_reg_r (IZR d)); auto. replace (IZR n / IZR d * IZR d) with (IZR n) by (field; lra). lra.
Qed.
Theorem young_row_ok pb v l rw Q : mechanism pb Q -> near_enough (zlen (weights pb)) Q v -> young_row (zlen (weights pb)) v l = Some rw -> holds Q rw.
Proof.
  intros (HQ & _) HN E. unfold young_row in E. destruct l as [|x [|z [|n [|d0 [|r l]]]]]; try discriminate. match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. rewrite !andb_true_iff, !Z.leb_le, !Z.ltb_lt, negb_true_iff, Z.eqb_neq in C.
  destruct C as [[[[[[[C1 C2] C3] C4] C5] C6] C7] C8]. destruct (limit_at v n d0) as [[p q]|] eqn:L; [|discriminate]. destruct (young_terms x z n d0 r p q 0 l) as [ts|] eqn:T; [|discriminate]. apply Some_inj in E. subst rw. unfold holds. cbn [equal coefficients right].
  destruct (limit_at_ok _ _ _ _ _ _ _ L ltac:(lia) HN) as [Q0 HA]. destruct (HA x z ltac:(lia) ltac:(lia) C5) as [P M]. assert (NQ : Forall (Forall (Rle 0)) Q) by (eapply Forall_impl; [|exact HQ]; intros c (_ & N & _); exact N).
  pose proof (young_terms_ok x z n d0 r p q Q ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) Q0 NQ P (length l) l 0%Z ts ltac:(lia) ltac:(lia) T) as TT. clear T. rename TT into T.
  simpl skipn in T. eapply Rle_trans; [exact T|]. set (a := IZR n / IZR d0) in *. set (E := (a - 1) * (IZR p / IZR q)) in *. apply IZR_lt in C8. apply Rmult_le_compat_l with (r := IZR r * exp (- E)) in M. 2: { pose proof (exp_pos (- E)). nra. }
  replace (IZR r * exp (- E) * exp E) with (IZR r) in M; auto. rewrite Rmult_assoc, <- exp_plus. replace (- E + E) with 0 by lra. rewrite exp_0. lra.
Qed.

(* ---- moments of a matrix ---- *)
Lemma moments_sum_ok n d0 dn x z : (0 < dn)%Z -> (0 < d0 < n)%Z -> forall cols ms s, Forall (Forall (Z.le 0)) cols ->
  moments_sum n d0 dn (map (fun q => nth (Z.to_nat x) q 0%Z) cols) (map (fun q => nth (Z.to_nat z) q 0%Z) cols) ms = Some s ->
  Forall (fun q => 0 < entry x q -> 0 < entry z q) (map (real dn) cols) /\ moment (IZR n / IZR d0) x z (map (real dn) cols) <= IZR s / DR.
Proof.
  intros Hd [D0 N0]. pose proof DR_pos as DP. pose proof Hd as Hd'. apply IZR_lt in D0, N0, Hd'. set (a := IZR n / IZR d0). induction cols as [|q cols IH]; intros ms s HC E; cbn [map moments_sum] in E. { destruct ms; [|discriminate]. apply Some_inj in E. subst. split; [constructor|]. rewrite moment_power. simpl. unfold Rdiv. lra. }
  destruct ms as [|m ms]; [discriminate|]. set (u := nth (Z.to_nat x) q 0%Z) in *. set (v := nth (Z.to_nat z) q 0%Z) in *. destruct (moments_sum n d0 dn _ _ ms) as [s'|] eqn:S; [|discriminate]. inversion_clear HC as [|? ? H1 H2]. destruct (IH ms s' H2 S) as [I J]. clear IH S.
  assert (EX : entry x (real dn q) = IZR u / IZR dn) by (unfold entry; apply nth_real). assert (EZ : entry z (real dn q) = IZR v / IZR dn) by (unfold entry; apply nth_real). rewrite moment_power in *. cbn [map total]. rewrite EX, EZ.
  assert (K : (s = m + s')%Z /\ (0 < IZR u / IZR dn -> 0 < IZR v / IZR dn) /\ power a (IZR u / IZR dn) (IZR v / IZR dn) <= IZR m / DR).
  2: { destruct K as (-> & K1 & K2). split. { constructor; auto. rewrite EX, EZ. exact K1. } rewrite plus_IZR. replace ((IZR m + IZR s') / DR) with (IZR m / DR + IZR s' / DR) by (field; lra). apply Rplus_le_compat; [exact K2|exact J]. }
  destruct (Z.eqb_spec u 0) as [U0|U0].
  - destruct (Z.leb_spec 0 m) as [M0|]; [|discriminate]. apply Some_inj in E. rewrite U0. apply IZR_le in M0. assert (0 <= IZR m / DR) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto). unfold power. replace (0 / IZR dn) with 0 by (unfold Rdiv; ring). destruct (Rlt_dec 0 0); [lra|]. repeat split; auto. lra.
  - destruct (log_below m D) as [lm|] eqn:LM; [|discriminate]. destruct (log_above u dn) as [la|] eqn:LA; [|discriminate]. destruct (log_above u v) as [lab|] eqn:LAB; [|discriminate]. match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. apply Some_inj in E. apply Z.leb_le, IZR_le in C. repeat rewrite ?plus_IZR, ?mult_IZR, ?minus_IZR in C.
    apply log_ok in LM, LA, LAB. destruct LM as (m0 & _ & LM), LA as (u0 & _ & LA), LAB as (_ & v0 & LAB). unfold is_end in *. fold DR in LM, LA, LAB. apply IZR_lt in m0, u0, v0. assert (U1 : 0 < IZR u / IZR dn) by (apply Rdiv_lt_0_compat; auto). assert (V1 : 0 < IZR v / IZR dn) by (apply Rdiv_lt_0_compat; auto). repeat split; auto.
    rewrite power_exp by auto. rewrite <- (exp_ln (IZR m / DR)) by (now apply Rdiv_lt_0_compat). apply exp_le. change (IZR D) with DR in LM. eapply Rle_trans; [|exact LM].
    assert (LV : ln (IZR v / IZR dn) = ln (IZR u / IZR dn) - ln (IZR u / IZR v)). { replace (IZR v / IZR dn) with (IZR u / IZR dn * / (IZR u / IZR v)) by (field; repeat split; lra). assert (0 < IZR u / IZR v) by (apply Rdiv_lt_0_compat; auto). rewrite ln_mult, ln_Rinv; auto using Rinv_0_lt_compat; unfold Rminus; auto. } rewrite LV. set (A := ln (IZR u / IZR dn)) in *. set (B := ln (IZR u / IZR v)) in *.
    apply (Rmult_le_reg_r (IZR d0 * DR)); [nra|]. assert (AD : a * IZR d0 = IZR n) by (unfold a; field; lra). replace ((a * A + (1 - a) * (A - B)) * (IZR d0 * DR)) with (IZR d0 * (A * DR) + (a * IZR d0 - IZR d0) * (B * DR)) by ring. rewrite AD. replace (IZR lm / DR * (IZR d0 * DR)) with (IZR d0 * IZR lm) by (field; lra).
    apply Rmult_le_compat_r with (r := DR) in LA, LAB; try lra. replace (IZR la / DR * DR) with (IZR la) in LA by (field; lra). replace (IZR lab / DR * DR) with (IZR lab) in LAB by (field; lra). apply Rmult_le_compat_l with (r := IZR d0) in LA; [|lra]. apply Rmult_le_compat_l with (r := IZR n - IZR d0) in LAB; [|lra]. lra.
Qed.
(* The logarithm of a moment is convex in the order. *)
Lemma moments_convex a b u v t x z Q : 0 <= t <= 1 -> moment a x z Q <= exp u -> moment b x z Q <= exp v -> moment (t * a + (1 - t) * b) x z Q <= exp (t * u + (1 - t) * v).
Proof.
  intros Ht HA HB. rewrite moment_power in *. set (c := t * a + (1 - t) * b). set (w := t * u + (1 - t) * v). assert (K : total (fun q => power c (entry x q) (entry z q)) Q <= exp w * (t * (exp (- u) * total (fun q => power a (entry x q) (entry z q)) Q) + (1 - t) * (exp (- v) * total (fun q => power b (entry x q) (entry z q)) Q))).
  { clear HA HB. induction Q as [|q Q IH]; simpl; [lra|]. set (e := entry x q). set (f := entry z q). assert (P : power c e f <= exp w * (t * (exp (- u) * power a e f) + (1 - t) * (exp (- v) * power b e f))); [|lra].
    destruct (Rlt_dec 0 e) as [E|E]. 2: { unfold power. destruct (Rlt_dec 0 e); [tauto|]. lra. } rewrite !power_exp, <- !exp_plus by auto. set (A := a * ln e + (1 - a) * ln f). set (B := b * ln e + (1 - b) * ln f).
    replace (c * ln e + (1 - c) * ln f) with (w + (t * (- u + A) + (1 - t) * (- v + B))) by (unfold c, w, A, B; ring). rewrite exp_plus. apply Rmult_le_compat_l. apply Rlt_le, exp_pos. now apply exp_means. }
  eapply Rle_trans; [exact K|]. rewrite <- (Rmult_1_r (exp w)) at 2. apply Rmult_le_compat_l. apply Rlt_le, exp_pos. assert (E : forall y, exp (- y) * exp y = 1) by (intros; rewrite <- exp_plus; replace (- y + y) with 0 by lra; apply exp_0).
  apply Rmult_le_compat_l with (r := exp (- u)) in HA; [|apply Rlt_le, exp_pos]. apply Rmult_le_compat_l with (r := exp (- v)) in HB; [|apply Rlt_le, exp_pos]. rewrite E in HA, HB. apply Rmult_le_compat_l with (r := t) in HA; [|lra]. apply Rmult_le_compat_l with (r := 1 - t) in HB; lra.
Qed.
Lemma line_above_ok p q n d0 s c : (0 < q)%Z -> (0 < d0)%Z -> line_above p q n d0 s c = true -> let r := IZR p / IZR q in let y := IZR c / DR in
  0 < IZR s / DR /\ IZR s / DR <= exp (r * ((2 * y - 1) * (IZR n / IZR d0) - y * y)).
Proof.
  intros Hq Hd H. pose proof DR_pos as DP. unfold line_above in H. destruct (log_above s D) as [u|] eqn:L; [|discriminate]. apply Z.leb_le, IZR_le in H. apply log_ok in L. destruct L as (s0 & _ & L). unfold is_end in L. fold DR in L. change (IZR D) with DR in L. apply IZR_lt in s0, Hq, Hd. cbv zeta.
  assert (S0 : 0 < IZR s / DR) by (now apply Rdiv_lt_0_compat). split; auto. rewrite <- (exp_ln (IZR s / DR)) by auto. apply exp_le. eapply Rle_trans; [exact L|]. repeat rewrite ?mult_IZR, ?minus_IZR in H. fold DR in H. apply (Rmult_le_reg_r (IZR q * IZR d0 * DR * DR)). { apply Rmult_lt_0_compat; [|exact DP]. apply Rmult_lt_0_compat; [|exact DP]. now apply Rmult_lt_0_compat. }
  replace (IZR u / DR * (IZR q * IZR d0 * DR * DR)) with (IZR u * IZR q * IZR d0 * DR) by (field; lra). eapply Rle_trans; [exact H|]. right. field. repeat split; lra.
Qed.
Lemma orders_there_ok p q dn x z cols : (0 < dn)%Z -> (0 <= p)%Z -> (0 < q)%Z -> Forall (Forall (Z.le 0)) cols -> total (entry x) (map (real dn) cols) = 1 -> forall os ms n0 d0 s0, (0 < d0 <= n0)%Z ->
  moment (IZR n0 / IZR d0) x z (map (real dn) cols) <= IZR s0 / DR ->
  orders_there p q dn (map (fun q => nth (Z.to_nat x) q 0%Z) cols) (map (fun q => nth (Z.to_nat z) q 0%Z) cols) n0 d0 s0 os ms = true -> forall t, IZR n0 / IZR d0 <= t -> 1 < t ->
  Forall (fun q => 0 < entry x q -> 0 < entry z q) (map (real dn) cols) /\ moment t x z (map (real dn) cols) <= exp ((t - 1) * (IZR p / IZR q * t)).
Proof.
  intros Hd Hp Hq HC HS. pose proof DR_pos as DP. set (Q := map (real dn) cols) in *. set (rho := IZR p / IZR q). pose proof Hd as d1. pose proof Hq as q1. pose proof Hp as p1. apply IZR_lt in d1, q1. apply IZR_le in p1.
  assert (R0 : 0 <= rho) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto). induction os as [|[[n d2] c] os IH]; intros ms n0 d0 s0 [D0 N0] M E t T1 T2; cbn [orders_there] in E.
  - destruct ms; [|discriminate]. assert (DD0 := D0). apply IZR_lt in DD0. assert (A : forall cols, Forall (Forall (Z.le 0)) cols -> all2z (fun a b => (a =? 0)%Z || match log_above a b with Some u => (u * q * d0 <=? D * p * n0)%Z | None => false end)%bool (map (fun q => nth (Z.to_nat x) q 0%Z) cols) (map (fun q => nth (Z.to_nat z) q 0%Z) cols) = true ->
      Forall (fun q => 0 < entry x q -> 0 < entry z q) (map (real dn) cols) /\ moment t x z (map (real dn) cols) <= exp ((t - 1) * (rho * t)) * total (entry x) (map (real dn) cols)).
    { clear - Hd d1 q1 p1 DD0 DP R0 T1 T2 rho. induction cols as [|c cols IH]; intros HC E; cbn [map all2z] in E. { split; [constructor|]. rewrite moment_power. simpl. lra. } apply andb_prop in E. destruct E as [E1 E2]. inversion_clear HC as [|? ? H1 H2]. destruct (IH H2 E2) as [I J]. rewrite moment_power in *. cbn [map total].
      set (a := nth (Z.to_nat x) c 0%Z) in *. set (b := nth (Z.to_nat z) c 0%Z) in *. assert (EX : entry x (real dn c) = IZR a / IZR dn) by (unfold entry; apply nth_real). assert (EZ : entry z (real dn c) = IZR b / IZR dn) by (unfold entry; apply nth_real). rewrite EX, EZ.
      assert (K : (0 < IZR a / IZR dn -> 0 < IZR b / IZR dn) /\ power t (IZR a / IZR dn) (IZR b / IZR dn) <= exp ((t - 1) * (rho * t)) * (IZR a / IZR dn)).
      2: { destruct K as [K1 K2]. split. { constructor; auto. rewrite EX, EZ. exact K1. } rewrite Rmult_plus_distr_l. apply Rplus_le_compat; [exact K2|exact J]. }
      apply orb_prop in E1. destruct E1 as [E1|E1]. { apply Z.eqb_eq in E1. rewrite E1. replace (0 / IZR dn) with 0 by (unfold Rdiv; ring). unfold power. destruct (Rlt_dec 0 0); [lra|]. split; lra. }
      destruct (log_above a b) as [u|] eqn:L; [|discriminate]. apply Z.leb_le, IZR_le in E1. rewrite !mult_IZR in E1. fold DR in E1. apply log_ok in L. destruct L as (a0 & b0 & L). unfold is_end in L. fold DR in L. apply IZR_lt in a0, b0. assert (A1 : 0 < IZR a / IZR dn) by (apply Rdiv_lt_0_compat; auto). assert (B1 : 0 < IZR b / IZR dn) by (apply Rdiv_lt_0_compat; auto). split; auto.
      rewrite power_exp by auto. rewrite <- (exp_ln (IZR a / IZR dn)) at 2 by auto. rewrite <- exp_plus. apply exp_le.
      assert (LV : ln (IZR b / IZR dn) = ln (IZR a / IZR dn) - ln (IZR a / IZR b)). { replace (IZR b / IZR dn) with (IZR a / IZR dn * / (IZR a / IZR b)) by (field; repeat split; lra). assert (0 < IZR a / IZR b) by (apply Rdiv_lt_0_compat; auto). rewrite ln_mult, ln_Rinv; auto using Rinv_0_lt_compat; unfold Rminus; auto. } rewrite LV.
      assert (LR : ln (IZR a / IZR b) <= rho * t). { eapply Rle_trans; [exact L|]. apply Rle_trans with (rho * (IZR n0 / IZR d0)). 2: now apply Rmult_le_compat_l. unfold rho. apply (Rmult_le_reg_r (DR * IZR q * IZR d0)). { apply Rmult_lt_0_compat; [|auto]. now apply Rmult_lt_0_compat. }
        replace (IZR u / DR * (DR * IZR q * IZR d0)) with (IZR u * IZR q * IZR d0) by (field; lra). replace (IZR p / IZR q * (IZR n0 / IZR d0) * (DR * IZR q * IZR d0)) with (DR * IZR p * IZR n0) by (field; repeat split; lra). exact E1. }
      apply Rmult_le_compat_l with (r := t - 1) in LR; [|lra]. lra. }
    destruct (A cols HC E) as [I J]. split; auto. fold Q in J. rewrite HS, Rmult_1_r in J. exact J.
  - destruct ms as [|m ms]; [discriminate|]. destruct (moments_sum n d2 dn _ _ m) as [s|] eqn:S; [|discriminate]. apply andb_prop in E. destruct E as [E EO]. apply andb_prop in E. destruct E as [E L2]. apply andb_prop in E. destruct E as [E L1]. apply andb_prop in E. destruct E as [D2 N2]. apply Z.ltb_lt in D2, N2.
    assert (N3 : (d2 < n)%Z) by nia. destruct (moments_sum_ok n d2 dn x z Hd (conj D2 N3) cols m s HC S) as [I J]. fold Q in I, J. destruct (Rle_dec (IZR n / IZR d2) t) as [T3|T3]. { apply (IH ms n d2 s); auto. lia. }
    split; auto. apply line_above_ok in L1, L2; auto. cbv zeta in L1, L2. destruct L1 as [_ L1], L2 as [_ L2]. set (y := IZR c / DR) in *. fold rho in L1, L2. set (a0 := IZR n0 / IZR d0) in *. set (a1 := IZR n / IZR d2) in *.
    assert (A01 : a0 < a1) by lra. set (th := (a1 - t) / (a1 - a0)). assert (TH : 0 <= th <= 1). { unfold th. split. apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat. lra. apply (Rmult_le_reg_r (a1 - a0)); [lra|]. replace ((a1 - t) / (a1 - a0) * (a1 - a0)) with (a1 - t) by (field; lra). lra. }
    assert (ET : t = th * a0 + (1 - th) * a1) by (unfold th; field; lra). pose proof (moments_convex a0 a1 _ _ th x z Q TH (Rle_trans _ _ _ M L1) (Rle_trans _ _ _ J L2)) as K. rewrite <- ET in K. eapply Rle_trans; [exact K|]. apply exp_le.
    replace (th * (rho * ((2 * y - 1) * a0 - y * y)) + (1 - th) * (rho * ((2 * y - 1) * a1 - y * y))) with (rho * ((2 * y - 1) * (th * a0 + (1 - th) * a1) - y * y)) by ring. rewrite <- ET. pose proof (Rle_0_sqr (t - y)) as Sq. unfold Rsqr in Sq. apply Rmult_le_compat_l with (r := rho) in Sq; auto. lra.
Qed.
Definition row_of (cols : list (list Z)) x := map (fun q => nth (Z.to_nat x) q 0%Z) cols.
Lemma divergence_of_ok v dn os x z cols ms k : (0 < dn)%Z -> Forall (Forall (Z.le 0)) cols -> total (entry x) (map (real dn) cols) = 1 -> (0 <= x < k)%Z -> (0 <= z < k)%Z -> x <> z ->
  divergence_of v dn os (row_of cols x) (row_of cols z) ms = true -> match v with
  | Renyi a c => Forall (fun q => 0 < entry x q -> 0 < entry z q) (map (real dn) cols) /\ moment (quotient a) x z (map (real dn) cols) <= exp ((quotient a - 1) * quotient c)
  | Concentrated c => forall a, 1 < a -> Forall (fun q => 0 < entry x q -> 0 < entry z q) (map (real dn) cols) /\ moment a x z (map (real dn) cols) <= exp ((a - 1) * (quotient c * a)) end.
Proof.
  intros Hd HC HS Hx Hz N E. pose proof DR_pos as DP. destruct v as [[a b] [p' q']|[p q]]; cbn [divergence_of] in E.
  - destruct os as [|[[n d0] c] [|]]; try discriminate. destruct ms as [|m [|]]; try discriminate. destruct (limit_at _ n d0) as [[p q]|] eqn:L; [|discriminate]. destruct (moments_sum n d0 dn _ _ m) as [s|] eqn:S; [|discriminate]. destruct (log_above s D) as [u|] eqn:LS; [|discriminate]. split_and E. apply Z.ltb_lt in E, E1. apply Z.leb_le, IZR_le in E0.
    destruct (moments_sum_ok n d0 dn x z Hd (conj E E1) cols m s HC S) as [I J]. split; auto. cbn [limit_at] in L. match type of L with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. split_and C. apply Z.eqb_eq in C. apply Z.ltb_lt in C0, C1. apply Some_inj in L. injection L as <- <-. unfold quotient. cbn [fst snd].
    apply IZR_lt in E, E1, C0, C1. assert (EQ : IZR a / IZR b = IZR n / IZR d0). { apply (f_equal IZR) in C. rewrite !mult_IZR in C. apply (Rmult_eq_reg_r (IZR d0 * IZR b)); [|apply Rmult_integral_contrapositive; split; lra]. replace (IZR a / IZR b * (IZR d0 * IZR b)) with (IZR a * IZR d0) by (field; lra). replace (IZR n / IZR d0 * (IZR d0 * IZR b)) with (IZR n * IZR b) by (field; lra). lra. } rewrite EQ.
    eapply Rle_trans; [exact J|]. apply log_ok in LS. destruct LS as (s0 & _ & LS). unfold is_end in LS. fold DR in LS. change (IZR D) with DR in LS. apply IZR_lt in s0. rewrite <- (exp_ln (IZR s / DR)) by (now apply Rdiv_lt_0_compat). apply exp_le. eapply Rle_trans; [exact LS|]. repeat rewrite ?mult_IZR, ?minus_IZR in E0. fold DR in E0.
    apply (Rmult_le_reg_r (DR * IZR d0 * IZR q')). { apply Rmult_lt_0_compat; [|auto]. now apply Rmult_lt_0_compat. } replace (IZR u / DR * (DR * IZR d0 * IZR q')) with (IZR u * IZR d0 * IZR q') by (field; lra). eapply Rle_trans; [exact E0|]. right. field. lra.
  - split_and E. apply Z.leb_le in E. apply Z.ltb_lt in E1. intros a Ha. unfold quotient. cbn [fst snd]. eapply (orders_there_ok p q dn x z cols Hd E E1 HC HS os ms 1 1 D); eauto; try lia. 2: lra.
    fold DR. replace (DR / DR) with 1 by (field; lra). rewrite moment_power. apply Rle_trans with (total (entry x) (map (real dn) cols)); [|rewrite HS; lra]. clear - HC Hd. apply IZR_lt in Hd. replace (1 / 1) with 1 by field. induction HC as [|q cols H HC IH]; simpl; [lra|]. apply Rplus_le_compat; auto.
    assert (P0 : 0 <= entry x (real dn q)). { apply entry_nonneg. apply real_pos; auto. now apply lt_IZR. } unfold power. destruct (Rlt_dec 0 (entry x (real dn q))); [|lra]. rewrite Rpower_1 by auto. replace (1 - 1) with 0 by ring. unfold Rpower. rewrite Rmult_0_l, exp_0. lra.
Qed.
Lemma others_there_ok f w x i : forall rs j ls ls', others_there f w x i j rs ls = Some ls' -> forall z r, nth_error rs z = Some r -> (j + Z.of_nat z <> i)%Z -> exists ms, f x r ms = true.
Proof.
  induction rs as [|b rs IH]; intros j ls ls' E [|z] r N D0; simpl in N; try discriminate; cbn [others_there] in E.
  - injection N as ->. destruct (Z.eqb_spec i j); [lia|]. destruct (f x r (firstn w ls)) eqn:P; [eauto|discriminate].
  - assert (D1 : (j + 1 + Z.of_nat z <> i)%Z) by lia. destruct (i =? j)%Z; [eauto|]. destruct (f x b (firstn w ls)); [eauto|discriminate].
Qed.
Lemma rows_there_ok f w all : forall rs i ls ls', rows_there f w all i rs ls = Some ls' -> forall s r, nth_error rs s = Some r -> forall z e, nth_error all z = Some e -> Z.of_nat z <> (i + Z.of_nat s)%Z -> exists ms, f r e ms = true.
Proof.
  induction rs as [|b rs IH]; intros i ls ls' E [|s] r N z e NZ D0; simpl in N; try discriminate; cbn [rows_there] in E; destruct (others_there f w b i 0 all ls) as [l2|] eqn:P; try discriminate.
  - injection N as ->. eapply others_there_ok; eauto. lia.
  - eapply IH; eauto. lia.
Qed.
Theorem divergence_there_ok dn k cols rs v shown : (0 < dn)%Z -> Forall (Forall (Z.le 0)) cols -> (forall x, (0 <= x < k)%Z -> total (entry x) (map (real dn) cols) = 1) -> length rs = Z.to_nat k -> (forall x, (x < Z.to_nat k)%nat -> nth x rs [] = map (fun q => nth x q 0%Z) cols) ->
  divergence_there dn rs v shown = true -> near_enough k (map (real dn) cols) v.
Proof.
  unfold divergence_there. intros Hd HC HS LR NR E. destruct (in_threes (fst shown)) as [os|]; [|discriminate]. destruct (rows_there _ _ rs 0 rs (snd shown)) as [ls'|] eqn:R; [|discriminate].
  assert (K : forall x z, (0 <= x < k)%Z -> (0 <= z < k)%Z -> x <> z -> exists ms, divergence_of v dn os (row_of cols x) (row_of cols z) ms = true).
  { intros x z Hx Hz N. unfold row_of. rewrite <- !NR by lia. eapply rows_there_ok; [exact R| | |]; [apply (nth_error_nth' rs []); lia|apply (nth_error_nth' rs []); lia|lia]. }
  unfold near_enough, apart_at_most. destruct v as [a c|c]; [|intros a Ha]; intros x z Hx Hz N; destruct (K x z Hx Hz N) as (ms & M); pose proof (divergence_of_ok _ _ _ _ _ _ _ k Hd HC (HS x Hx) Hx Hz N M) as F; cbn in F; auto.
Qed.
