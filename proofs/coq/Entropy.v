(* Entropies of rows: a floor implies a row of the plain problem, and the utility entropy is at most a linear one, by the
   tangents of -v log v at points that the proof gives. So what is proved of the plain problem holds with entropies. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness.
Import ListNotations.

(* ---- the check ---- *)
Open Scope Z_scope.
(* For one column: s_x (D + l_x) with l_x <= D log (t_x / D), and the sum of s_x t_x. *)
Fixpoint slopes (s t : list Z) : option (list Z * Z) := match s, t with
  | [], [] => Some ([], 0)
  | a :: s, p :: t => match slopes s t with None => None | Some (c, r) => if a =? 0 then Some (0 :: c, r) else
      match log_below p D with Some l => Some (a * (D + l) :: c, a * p + r) | None => None end end
  | _, _ => None end.
Fixpoint placed (x y : Z) (c : list Z) : terms := match c with [] => []
  | a :: c => if a =? 0 then placed (x + 1) y c else (x, y, a) :: placed (x + 1) y c end.
Fixpoint tangent_terms (s : list Z) (y : Z) (points : list (list Z)) : option (terms * Z) := match points with [] => Some ([], 0)
  | t :: points => match slopes s t, tangent_terms s (y + 1) points with
      | Some (c, r), Some (l, r') => Some (placed 0 y c ++ l, r + r') | _, _ => None end end.
(* At most D times the sum of s_x log n_x. *)
Fixpoint logs_low (s n : list Z) : option Z := match s, n with [], [] => Some 0
  | a :: s, m :: n => match log_below m 1, logs_low s n with Some l, Some r => Some (a * l + r) | _, _ => None end
  | _, _ => None end.
Definition floor_ok pb (f : floor) : bool := let (a, b) := part f in
  (0 <=? a) && (0 <? b) && alike (shares f) (weights pb) && nonnegative (shares f) && alike (sizes f) (weights pb).
Definition floor_row pb points (f : floor) : option row := let (a, b) := part f in if floor_ok pb f then
  match tangent_terms (zscale b (shares f)) 0 points, logs_low (shares f) (sizes f) with
  | Some (l, r), Some w => Some (Row false (r - a * w) l) | _, _ => None end else None.
Fixpoint floor_rows pb points fs : option (list row) := match fs with [] => Some []
  | f :: fs => match floor_row pb points f, floor_rows pb points fs with Some r, Some l => Some (r :: l) | _, _ => None end end.
Definition bonus_ok pb B : bool := alike B (weights pb) && nonnegative B && (0 <? zsum B).
Definition negated (l : terms) : terms := map (fun t => match t with (x, y, c) => (x, y, - c) end) l.
Definition bonus_cost pb B points (cl : Z * Z) : option (utility * (Z * Z)) := match B with [] => Some (objective pb, cl) | _ =>
  match objective pb, tangent_terms B 0 points with
  | Linear 1 [], Some (l, r) => let U := zsum B * D in
      if bonus_ok pb B && (0 <? snd cl) then Some (Linear U (negated l), (fst cl * U - r * snd cl, snd cl * U)) else None
  | _, _ => None end end.
(* The plain problem with a row for each floor and a linear utility, and the claim about it; without points the floors go. *)
Definition relax (en : with_entropy) cl points : option (problem * (Z * Z)) := let pb := plain en in match points, bonus en with
  | [], [] => Some (pb, cl)
  | _, _ => match floor_rows pb points (floors en), bonus_cost pb (bonus en) points cl, outputs pb with
      | Some new, Some (u, cl), Some m => if zlen points =? m
          then Some (Problem (weights pb) u (base pb) (halfspaces pb) (outputs pb) (new ++ rows pb), cl) else None
      | _, _, _ => None end end.
Definition bare (en : with_entropy) := With_entropy (plain en) [] (floors en).
Definition decide en cl points hd toks := match relax en cl points with Some (pb, cl) => verify pb cl hd toks | None => false end.
Definition impossible en cl points hd toks := match relax (bare en) cl points with Some (pb, cl) => refute pb cl hd toks | None => false end.

(* At least D d times, over a column, the sum of s_x q_x (b log (q_x n_x) - (b - a) log n_x). *)
Fixpoint spread (a b d : Z) (s n q : list Z) : option Z := match s, n, q with
  | g :: s, m :: n, v :: q => match spread a b d s n q, log (b <? a) m 1 with
      | Some r, Some l => if v =? 0 then Some r else
          match log_above (v * m) d with Some w => Some (g * v * (b * w - (b - a) * l) + r) | None => None end
      | _, _ => None end
  | _, _, _ => Some 0 end.
Definition ones (l : list Z) := map (fun _ => 1) l.
Definition floor_holds pb d cols (f : floor) : bool := let (a, b) := part f in floor_ok pb f &&
  match sum_all (spread a b d (shares f) (if a =? 0 then ones (sizes f) else sizes f)) cols with Some s => s <=? 0 | None => false end.
Definition attains_all (en : with_entropy) (cl : Z * Z) d lows cols : bool := let pb := plain en in
  forallb (floor_holds pb d cols) (floors en) && match bonus en with [] => attains pb cl d lows cols
  | B => bonus_ok pb B && match sum_all (spread 0 1 d B (ones B)) cols with
      | Some s => let U := zsum B * D * d in attains pb (fst cl * U + s * snd cl, snd cl * U) d lows cols | None => false end end.
Close Scope Z_scope.
Open Scope R_scope.

(* ---- tangents ---- *)
Lemma slopes_ok : forall s t c r q, Forall (Z.le 0) s -> Forall (Rle 0) q -> slopes s t = Some (c, r) ->
  0 <= IZR r /\ - relative s 1 q <= (IZR r - dot c q) * d. Proof. pose proof d_pos as dp. induction s as [|a s IH]; intros [|p t] c r q Hs Hq E; cbn [slopes] in E; try discriminate.
  { apply Some_inj in E. injection E as <- <-. simpl. lra. } destruct (slopes s t) as [[c' r']|] eqn:S; [|discriminate]. inversion Hs as [|? ? A0 Hs']; subst. apply IZR_le in A0. destruct (Z.eqb_spec a 0) as [->|N].
  - apply Some_inj in E. injection E as <- <-. destruct q as [|y q]. { destruct (IH t c' r' [] Hs' Hq S). simpl in *. destruct s, c'; simpl in *; auto. }
    inversion_clear Hq. destruct (IH t c' r' q Hs' H0 S) as [I J]. simpl. split; auto. lra.
  - destruct (log_below p D) as [l|] eqn:L; [|discriminate]. apply Some_inj in E. injection E as <- <-. apply log_ok in L. destruct L as (p0 & _ & L). unfold is_end in L.
    fold DR in L. apply IZR_lt in p0. rewrite plus_IZR, mult_IZR. destruct q as [|y q].
    + destruct (IH t c' r' [] Hs' Hq S) as [I _]. assert (P : 0 <= IZR a * IZR p) by nra. simpl. split; [lra|]. pose proof (Rmult_le_pos (IZR a * IZR p + IZR r') d). lra.
    + inversion_clear Hq as [|? ? Y0 Hq']. destruct (IH t c' r' q Hs' Hq' S) as [I J]. split; [nra|]. simpl. rewrite mult_IZR, plus_IZR. fold DR.
      pose proof (tangent y (IZR p * d) (IZR l * d) Y0 ltac:(nra) ltac:(unfold Rdiv in L; lra)) as K. simpl in K. apply Rmult_le_compat_l with (r := IZR a) in K; auto. unfold Rdiv. rewrite Rinv_1, Rmult_1_r.
      replace ((IZR a * IZR p + IZR r' - (IZR a * (DR + IZR l) * y + dot c' q)) * d) with (IZR a * (IZR p * d - y * (DR * d + IZR l * d)) + (IZR r' - dot c' q) * d) by ring. rewrite DRd. lra. Qed.
Lemma form_app a b Q : form (a ++ b) Q = form a Q + form b Q. Proof. unfold form. induction a as [|h a IH]; simpl; [lra|]. rewrite IH. lra. Qed.
Lemma form_negated Q : forall l, form (negated l) Q = - form l Q. Proof. unfold form. induction l as [|[[x y] c] l IH]; simpl; [lra|]. fold (negated l). rewrite IH, opp_IZR. lra. Qed.
Lemma dot_skip a c : forall n v, dot (a :: c) (skipn n v) = IZR a * nth n v 0 + dot c (skipn (S n) v). Proof. induction n; intros [|y v]; [destruct c; simpl; lra|simpl; lra|destruct c; simpl; lra|exact (IHn v)]. Qed.
Lemma placed_ok y Q : forall c x, (0 <= x)%Z -> form (placed x y c) Q = dot c (skipn (Z.to_nat x) (nth (Z.to_nat y) Q [])).
Proof. induction c as [|a c IH]; intros x Hx; [simpl; auto|]. rewrite dot_skip. cbn [placed]. specialize (IH (x + 1)%Z ltac:(lia)).
  replace (Z.to_nat (x + 1)) with (S (Z.to_nat x)) in IH by lia. destruct (Z.eqb_spec a 0) as [->|N]. { rewrite IH. lra. } unfold form in *. simpl total. rewrite IH. unfold cell, entry. lra. Qed.
Lemma skip_next {A} (Q : list (list A)) y q Q' : (0 <= y)%Z -> skipn (Z.to_nat y) Q = q :: Q' -> nth (Z.to_nat y) Q [] = q /\ skipn (Z.to_nat (y + 1)) Q = Q'.
Proof. intros Hy. replace (Z.to_nat (y + 1)) with (S (Z.to_nat y)) by lia. clear Hy. revert Q. induction (Z.to_nat y) as [|n IHn]; intros [|a Q] EQ; simpl in *; try discriminate; auto. injection EQ as -> ->. auto. Qed.
Lemma tangent_terms_ok s Q : Forall (Z.le 0) s -> forall points y l r Q', (0 <= y)%Z -> skipn (Z.to_nat y) Q = Q' -> length Q' = length points ->
  Forall (Forall (Rle 0)) Q' -> tangent_terms s y points = Some (l, r) -> entropy s Q' <= (IZR r - form l Q) * d. Proof.
  intros Hs. unfold entropy. induction points as [|t points IH]; intros y l r Q' Hy EQ L N E; cbn [tangent_terms] in E.
  { apply Some_inj in E. injection E as <- <-. destruct Q'; [|discriminate]. unfold form. simpl. lra. }
  destruct (slopes s t) as [[c r1]|] eqn:SL; [|discriminate]. destruct (tangent_terms s (y + 1) points) as [[l2 r2]|] eqn:T; [|discriminate].
  apply Some_inj in E. injection E as <- <-. destruct Q' as [|q Q']; [discriminate|]. inversion_clear N as [|? ? N1 N2]. destruct (skip_next Q y q Q' Hy EQ) as [H1 H2]. specialize (IH (y + 1)%Z l2 r2 Q' ltac:(lia) H2 ltac:(simpl in L; lia) N2 T). destruct (slopes_ok s t c r1 q Hs N1 SL) as [_ K]. rewrite form_app, placed_ok, H1, plus_IZR by lia. simpl. lra. Qed.
Lemma logs_low_ok : forall s n w, Forall (Z.le 0) s -> logs_low s n = Some w -> IZR w * d <= logs s n.
Proof. induction s as [|a s IH]; intros [|m n] w Hs E; cbn [logs_low] in E; try discriminate. { apply Some_inj in E. subst. simpl. lra. }
  destruct (log_below m 1) as [l|] eqn:L; [|discriminate]. destruct (logs_low s n) as [r|] eqn:R; [|discriminate]. apply Some_inj in E. subst w.
  inversion Hs as [|? ? A0 Hs']; subst. apply IZR_le in A0. specialize (IH n r Hs' R). apply log_ok in L. destruct L as (_ & _ & L). unfold is_end in L.
  unfold Rdiv in L. rewrite Rinv_1, Rmult_1_r in L. rewrite plus_IZR, mult_IZR. simpl. apply Rmult_le_compat_l with (r := IZR a) in L; auto. lra. Qed.
Lemma relative_zscale c w : forall s q, relative (zscale c s) w q = IZR c * relative s w q. Proof. induction s; destruct q; simpl; try lra. fold (zscale c s). rewrite IHs, mult_IZR. lra. Qed.
Lemma entropy_zscale c s Q : entropy (zscale c s) Q = IZR c * entropy s Q. Proof. unfold entropy. induction Q as [|q Q IH]; simpl; [lra|]. rewrite relative_zscale. lra. Qed.
Lemma entropy_nil Q : entropy [] Q = 0. Proof. unfold entropy. induction Q as [|q Q IH]; cbn [total relative] in *; lra. Qed.
Lemma earns_plain en Q : bonus en = [] -> earns en Q = worth (plain en) Q. Proof. intros H. unfold earns. rewrite H, entropy_nil. unfold Rdiv. ring. Qed.
Lemma floor_parts pb f a b : part f = (a, b) -> floor_ok pb f = true -> (0 <= a)%Z /\ (0 < b)%Z /\ length (shares f) = length (weights pb) /\
  Forall (Z.le 0) (shares f) /\ length (sizes f) = length (weights pb). Proof. intros E H. unfold floor_ok in H. rewrite E in H. split_and H. apply Z.leb_le in H. apply Z.ltb_lt in H3. repeat split; auto using alike_len, nonneg_all.
Qed.
Lemma floor_rows_ok pb points Q : length Q = length points -> Forall (Forall (Rle 0)) Q -> forall fs new, floor_rows pb points fs = Some new ->
  Forall (keeps Q) fs -> Forall (holds Q) new. Proof. intros L N. induction fs as [|f fs IH]; intros new E K; cbn [floor_rows] in E. { apply Some_inj in E. subst. constructor. }
  destruct (floor_row pb points f) as [r|] eqn:R; [|discriminate]. destruct (floor_rows pb points fs) as [l|]; [|discriminate].
  apply Some_inj in E. subst new. inversion_clear K as [|? ? K1 K2]. constructor; auto. clear IH K2. unfold floor_row in R. unfold keeps in K1.
  destruct (part f) as [a b] eqn:P. destruct (floor_ok pb f) eqn:O; [|discriminate]. destruct (floor_parts _ _ _ _ P O) as (A0 & B0 & _ & S0 & _).
  destruct (tangent_terms _ 0 points) as [[l' r']|] eqn:T; [|discriminate]. destruct (logs_low _ _) as [w|] eqn:W; [|discriminate]. apply Some_inj in R. subst r.
  apply (tangent_terms_ok _ Q) with (Q' := Q) in T; auto; try lia. 2: { apply scale_nonneg; auto. lia. }
  apply logs_low_ok in W; auto. rewrite entropy_zscale in T. unfold holds. simpl in *. rewrite minus_IZR, mult_IZR. apply IZR_lt in B0. apply IZR_le in A0.
  pose proof DR_pos as DP. pose proof d_pos as dp. apply Rmult_le_compat_l with (r := IZR b) in K1; [|lra]. replace (IZR b * (IZR a / IZR b * logs (shares f) (sizes f))) with (IZR a * logs (shares f) (sizes f)) in K1 by (field; lra).
  apply Rmult_le_compat_l with (r := IZR a) in W; auto. apply (Rmult_le_reg_r d); auto. lra. Qed.
Lemma relax_ok en N M points pb cl : relax en (N, M) points = Some (pb, cl) -> forall Q, kept en Q ->
  mechanism pb Q /\ (worth pb Q <= IZR (fst cl) / IZR (snd cl) -> earns en Q <= IZR N / IZR M). Proof. unfold relax. intros E Q [HQ HK]. destruct (match points, bonus en with [], [] => true | _, _ => false end) eqn:NO.
  { destruct points; [|discriminate]. destruct (bonus en) eqn:EB; [|discriminate]. apply Some_inj in E. injection E as <- <-. split; auto. rewrite (earns_plain en Q EB). auto. }
  assert (E' : match floor_rows (plain en) points (floors en), bonus_cost (plain en) (bonus en) points (N, M), outputs (plain en) with | Some new, Some (u, cl), Some m => if (zlen points =? m)%Z
          then Some (Problem (weights (plain en)) u (base (plain en)) (halfspaces (plain en)) (outputs (plain en)) (new ++ rows (plain en)), cl) else None
      | _, _, _ => None end = Some (pb, cl)) by (destruct points; [destruct (bonus en); [discriminate|exact E]|exact E]). clear E. destruct (floor_rows (plain en) points (floors en)) as [new|] eqn:F; [|discriminate].
  destruct (bonus_cost (plain en) (bonus en) points (N, M)) as [[u cl']|] eqn:B; [|discriminate]. pose proof HQ as (HQ1 & HQ2 & HQ3 & HQ4).
  destruct (outputs (plain en)) as [m|]; [|discriminate]. destruct (Z.eqb_spec (zlen points) m) as [C|]; [|discriminate]. apply Some_inj in E'. injection E' as <- <-.
  assert (NQ : Forall (Forall (Rle 0)) Q) by (eapply Forall_impl; [|exact HQ1]; intros q K; apply K). assert (LQ : length Q = length points) by (rewrite zlen_len in C; lia). pose proof (floor_rows_ok _ _ Q LQ NQ _ _ F HK) as HN.
  split. { split; auto. split; auto. split; auto. apply Forall_app. auto. } unfold bonus_cost in B. destruct (bonus en) as [|b0 B0] eqn:EB. { apply Some_inj in B. injection B as <- <-. rewrite (earns_plain en Q EB). auto. }
  unfold earns. rewrite EB. destruct (objective (plain en)) as [den cost| | |] eqn:O; try discriminate B.
  destruct den as [|[| |]|]; try discriminate. destruct cost; try discriminate. destruct (tangent_terms (b0 :: B0) 0 points) as [[l r]|] eqn:T; [|discriminate].
  match type of B with (if ?c then _ else _) = _ => destruct c eqn:C0; [|discriminate] end. apply andb_prop in C0. destruct C0 as [C0 M0]. apply Z.ltb_lt in M0. simpl in M0.
  apply Some_inj in B. injection B as <- <-. unfold bonus_ok in C0. split_and C0. apply Z.ltb_lt in C1. apply nonneg_all in C2.
  apply (tangent_terms_ok _ Q) with (Q' := Q) in T; auto; try lia. cbn [fst snd]. unfold worth. rewrite O. cbn [objective]. rewrite form_negated.
  replace (form [] Q) with 0 by reflexivity. change (b0 + zsum B0)%Z with (zsum (b0 :: B0)). set (S := zsum (b0 :: B0)) in *. apply IZR_lt in C1, M0. pose proof DR_pos as DP. pose proof DRd as DD.
  rewrite minus_IZR, !mult_IZR. fold DR. intros K. set (H := entropy (b0 :: B0) Q) in *. apply Rmult_le_compat_r with (r := IZR S * DR) in K; [|nra].
  replace (- form l Q / (IZR S * DR) * (IZR S * DR)) with (- form l Q) in K by (field; split; lra).
  replace ((IZR N * (IZR S * DR) - IZR r * IZR M) / (IZR M * (IZR S * DR)) * (IZR S * DR)) with (IZR N / IZR M * IZR S * DR - IZR r) in K by (field; repeat split; lra).
  apply (Rmult_le_reg_r (IZR S)); auto. replace ((0 / 1 + H / IZR S) * IZR S) with H by (field; lra).
  apply (Rmult_le_reg_r DR); auto. apply Rmult_le_compat_r with (r := DR) in T; [|lra]. replace ((IZR r - form l Q) * d * DR) with ((IZR r - form l Q) * (DR * d)) in T by ring. rewrite DD in T. lra. Qed.

Theorem decide_sound en N M points hd toks : decide en (N, M) points hd toks = true -> forall Q, kept en Q -> earns en Q <= IZR N / IZR M.
Proof. unfold decide. intros H Q K. destruct (relax en (N, M) points) as [[pb [N' M']]|] eqn:E; [|discriminate]. destruct (relax_ok _ _ _ _ _ _ E Q K) as [A B]. apply B. eapply verify_sound; eauto. Qed.
Theorem impossible_sound en N M points hd toks : impossible en (N, M) points hd toks = true -> forall Q, ~ kept en Q.
Proof. unfold impossible. intros H Q K. destruct (relax (bare en) (N, M) points) as [[pb [N' M']]|] eqn:E; [|discriminate]. destruct (relax_ok _ _ _ _ _ _ E Q K) as [A _]. eapply refute_sound; eauto. Qed.

(* ---- values ---- *)
Fixpoint rdot (c v : list R) : R := match c, v with a :: c, y :: v => a * y + rdot c v | _, _ => 0 end.
Fixpoint part_logs (s n : list Z) : list R := match s, n with a :: s, m :: n => IZR a * ln (IZR m) :: part_logs s n | _, _ => [] end.
Lemma total_rdot c k : forall Q, Forall (fun q => length q = k) Q -> total (rdot c) Q = rdot c (colsum k Q) /\ length (colsum k Q) = k.
Proof. assert (P : forall c a b, length a = length b -> rdot c (plus a b) = rdot c a + rdot c b).
  { clear. induction c; intros [|x a'] [|y b'] L; simpl in *; try discriminate; try lra. rewrite IHc by lia. lra. } induction Q as [|q Q IH]; intros H; simpl.
  - split; [|apply repeat_length]. revert k H. induction c; destruct k; simpl; intros; auto. rewrite <- IHc by auto. lra.
  - inversion_clear H as [|? ? H1 H2]. destruct (IH H2) as [I J]. rewrite I, P, len_plus by lia. auto. Qed.
Lemma rdot_1 : forall s n k, length s = k -> rdot (part_logs s n) (repeat 1 k) = logs s n. Proof. induction s; intros n k <-; simpl; auto. destruct n; simpl; auto. rewrite IHs by auto. lra. Qed.
Lemma Rdiv_1 y : y / 1 = y. Proof. field. Qed.
Lemma spread_ok dn a b : (0 < dn)%Z -> (0 <= a)%Z -> (0 < b)%Z -> forall s n q r, Forall (Z.le 0) s -> Forall (Z.le 0) q -> length n = length s -> spread a b dn s n q = Some r ->
  - (IZR r / (DR * IZR dn)) <= - IZR b * relative s 1 (real dn q) - IZR a * rdot (part_logs s n) (real dn q). Proof.
  intros Hd Ha Hb. pose proof DR_pos as DP. apply IZR_lt in Hd, Hb. apply IZR_le in Ha. induction s as [|g s IH]; intros [|m n] [|v q] r Hs Hq L E;
    cbn [spread] in E; try discriminate; try (apply Some_inj in E; subst; simpl; unfold Rdiv; lra). destruct (spread a b dn s n q) as [r'|] eqn:S; [|discriminate]. destruct (log (b <? a)%Z m 1) as [l|] eqn:LM; [|discriminate].
  inversion_clear Hs as [|? ? G0 Hs']. inversion_clear Hq as [|? ? V0 Hq']. specialize (IH n q r' Hs' Hq' ltac:(simpl in L; lia) S). apply IZR_le in G0, V0.
  change (real dn (v :: q)) with (IZR v / IZR dn :: real dn q). cbn [relative part_logs rdot]. rewrite (Rdiv_1 (IZR v / IZR dn)).
  destruct (Z.eqb_spec v 0) as [->|N0]. { apply Some_inj in E. subst r'. replace (0 / IZR dn) with 0 by (unfold Rdiv; ring). rewrite Rmult_0_l, !Rmult_0_r, !Rplus_0_l. exact IH. }
  destruct (log_above (v * m) dn) as [w|] eqn:LV; [|discriminate]. apply Some_inj in E. subst r. apply log_ok in LM, LV.
  destruct LM as (m0 & _ & LM). destruct LV as (vm0 & _ & LV). unfold is_end in LM, LV. rewrite Rdiv_1 in LM. apply IZR_lt in m0, vm0. rewrite mult_IZR in vm0, LV.
  assert (v0 : 0 < IZR v) by nra. set (y := IZR v / IZR dn) in *. assert (y0 : 0 < y) by (apply Rdiv_lt_0_compat; auto). assert (EL : ln (IZR v * IZR m / IZR dn) = ln y + ln (IZR m)).
  { replace (IZR v * IZR m / IZR dn) with (y * IZR m) by (unfold y; field; lra). apply ln_mult; auto. } rewrite EL in LV.
  assert (K : (IZR b - IZR a) * (IZR l / DR) <= (IZR b - IZR a) * ln (IZR m)).
  { destruct (Z.ltb_spec b a) as [AB|AB]. apply IZR_lt in AB. apply Rmult_le_compat_neg_l; lra. apply IZR_le in AB. apply Rmult_le_compat_l; lra. }
  apply Rmult_le_compat_l with (r := IZR b) in LV; [|lra]. assert (G1 : 0 <= IZR g * y) by nra. assert (F : IZR b * ln y + IZR a * ln (IZR m) <= IZR b * (IZR w / DR) - (IZR b - IZR a) * (IZR l / DR)) by lra.
  apply Rmult_le_compat_l with (r := IZR g * y) in F; auto. rewrite plus_IZR, !mult_IZR, minus_IZR, !mult_IZR, minus_IZR. replace ((IZR g * IZR v * (IZR b * IZR w - (IZR b - IZR a) * IZR l) + IZR r') / (DR * IZR dn))
    with (IZR g * y * (IZR b * (IZR w / DR) - (IZR b - IZR a) * (IZR l / DR)) + IZR r' / (DR * IZR dn)) by (unfold y; field; lra). lra. Qed.
Lemma spread_all dn a b s n k cols r : (0 < dn)%Z -> (0 <= a)%Z -> (0 < b)%Z -> Forall (Z.le 0) s -> length n = length s -> length s = k ->
  (forall q, In q cols -> length q = k /\ Forall (Z.le 0) q) -> colsum k (map (real dn) cols) = repeat 1 k -> sum_all (spread a b dn s n) cols = Some r ->
  - (IZR r / (DR * IZR dn)) <= IZR b * entropy s (map (real dn) cols) - IZR a * logs s n. Proof. intros Hd Ha Hb Hs Ln Ls HC HS E.
  assert (I : - (IZR r / (DR * IZR dn)) <= IZR b * entropy s (map (real dn) cols) - IZR a * total (rdot (part_logs s n)) (map (real dn) cols)).
  { clear HS. unfold entropy. revert r E. induction cols as [|q cols IH]; intros r E; cbn [sum_all] in E. { apply Some_inj in E. subst. simpl. unfold Rdiv. lra. }
    destruct (spread a b dn s n q) as [x|] eqn:S; [|discriminate]. destruct (sum_all _ cols) as [z|]; [|discriminate]. apply Some_inj in E. subst r.
    destruct (HC q (or_introl eq_refl)) as [_ Nq]. pose proof (spread_ok dn a b Hd Ha Hb s n q x Hs Nq Ln S) as K. specialize (IH (fun q I => HC q (or_intror I)) z eq_refl). simpl. rewrite plus_IZR. unfold Rdiv in *. lra. }
  destruct (total_rdot (part_logs s n) k (map (real dn) cols)) as [T _].
  { apply Forall_map, Forall_forall. intros q Iq. unfold real. rewrite map_length. now apply HC. } rewrite T, HS, rdot_1 in I by auto. exact I. Qed.
Lemma logs_ones : forall s l, logs s (ones l) = 0. Proof. induction s; destruct l; simpl; auto. fold (ones l). rewrite IHs, ln_1. lra. Qed.

Theorem attains_all_sound en N M d lows cols : attains_all en (N, M) d lows cols = true ->
  kept en (map (real d) cols) /\ IZR N / IZR M <= earns en (map (real d) cols). Proof. unfold attains_all. cbv zeta. intros H. apply andb_prop in H. destruct H as [HF H]. set (Q := map (real d) cols).
  assert (A : exists N' M', attains (plain en) (N', M') d lows cols = true).
  { destruct (bonus en); [eauto|]. split_and H. destruct (sum_all _ cols); [eauto|discriminate]. }
  destruct A as (N' & M' & A). pose proof (attains_sound _ _ _ _ _ _ A) as [HM _]. unfold attains in A. cbv zeta in A. split_and A. apply Z.ltb_lt in A8.
  assert (HC : forall q, In q cols -> length q = length (weights (plain en)) /\ Forall (Z.le 0) q).
  { intros q I. rewrite forallb_forall in A6. specialize (A6 q I). split_and A6. split. now apply alike_len. now apply nonneg_all. }
  assert (HS : colsum (length (weights (plain en))) Q = repeat 1 (length (weights (plain en)))) by apply HM. pose proof DR_pos as DP. pose proof A8 as D0. apply IZR_lt in D0. split.
  - split; auto. rewrite forallb_forall in HF. apply Forall_forall. intros f I. specialize (HF f I). unfold floor_holds in HF. unfold keeps.
    destruct (part f) as [a b] eqn:P. apply andb_prop in HF. destruct HF as [HF HL]. destruct (floor_parts _ _ _ _ P HF) as (PA & PB & L1 & S0 & L2).
    destruct (sum_all _ cols) as [s|] eqn:S; [|discriminate]. apply Z.leb_le, IZR_le in HL. simpl. assert (Ln : length (if (a =? 0)%Z then ones (sizes f) else sizes f) = length (shares f)).
    { destruct (a =? 0)%Z; unfold ones; rewrite ?map_length; congruence. } pose proof (spread_all d a b _ _ _ cols s A8 PA PB S0 Ln L1 HC HS S) as K. apply IZR_lt in PB. fold Q in K. assert (Z0 : 0 <= - (IZR s / (DR * IZR d))).
    { unfold Rdiv. pose proof (Rinv_0_lt_compat (DR * IZR d) ltac:(nra)). nra. }
    apply (Rmult_le_reg_l (IZR b)); auto. replace (IZR b * (IZR a / IZR b * logs (shares f) (sizes f))) with (IZR a * logs (shares f) (sizes f)) by (field; lra). destruct (Z.eqb_spec a 0) as [->|]; [|lra]. rewrite logs_ones in K. lra.
  - destruct (bonus en) as [|b0 B0] eqn:EB.
    + apply attains_sound in H. rewrite (earns_plain en Q EB). apply H.
    + unfold earns. rewrite EB. apply andb_prop in H. destruct H as [HB H]. unfold bonus_ok in HB. split_and HB. apply Z.ltb_lt in HB0. apply nonneg_all in HB1. apply alike_len in HB.
      destruct (sum_all _ cols) as [s|] eqn:S; [|discriminate]. cbn [fst snd] in H. pose proof H as H'. unfold attains in H'. cbv zeta in H'. split_and H'.
      apply Z.ltb_lt in H'7. cbn [snd] in H'7. apply attains_sound in H. destruct H as [_ H]. fold Q in H. assert (Ln : length (ones (b0 :: B0)) = length (b0 :: B0)) by (unfold ones; apply map_length).
      pose proof (spread_all d 0 1 _ _ _ cols s A8 ltac:(lia) ltac:(lia) HB1 Ln HB HC HS S) as K. fold Q in K. set (T := zsum (b0 :: B0)) in *.
      assert (M0 : (0 < M)%Z). { pose proof D_pos. assert (0 < T * D * d)%Z by nia. nia. } apply IZR_lt in M0, HB0. rewrite plus_IZR, !mult_IZR in H. fold DR in H. set (E := entropy (b0 :: B0) Q) in *.
      replace ((IZR N * (IZR T * DR * IZR d) + IZR s * IZR M) / (IZR M * (IZR T * DR * IZR d))) with (IZR N / IZR M + IZR s / (DR * IZR d) / IZR T) in H by (field; repeat split; lra).
      assert (K2 : - (IZR s / (DR * IZR d)) / IZR T <= E / IZR T). { unfold Rdiv. apply Rmult_le_compat_r. apply Rlt_le, Rinv_0_lt_compat; auto. unfold Rdiv in K. lra. } unfold Rdiv in *. lra. Qed.
