(* Convex functions of mechanisms: linear forms below them, at directions that the proof gives, take the place of the one that is
   minimised and of those that are limited. So what is proved of the linear problem holds with the convex functions. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy.
Import ListNotations.

(* ---- the check ---- *)
Open Scope Z_scope.
(* l_x <= D log (n_x N / m), and 0 where G_x is 0 *)
Fixpoint gradient (N m : Z) (G n : list Z) : option (list Z) := match G, n with [], [] => Some []
  | g :: G, a :: n => match gradient N m G n with None => None | Some c => if g =? 0 then Some (0 :: c) else
      match log_below (a * N) m with Some l => Some (l :: c) | None => None end end
  | _, _ => None end.
(* A list whose product with a column is at most D times its relative entropies. *)
Fixpoint groups_under (gs : list (list Z)) (n q : list Z) : option (list Z) := match gs with [] => Some q
  | G :: gs => if zsum G =? 0 then groups_under gs n q else let m := zdot G n in if 0 <? m then
      match gradient (zsum G) m G n with Some c => groups_under gs n (zplus q (products G c)) | None => None end else None end.
Fixpoint mixed (W p : list Z) (gains : list (list Z)) (q : list Z) : option (list Z) := match p, gains with [], [] => Some q
  | a :: p, g :: gains => if 0 <=? a then mixed W p gains (zplus q (zscale a (products W g))) else None
  | _, _ => None end.
Definition alone u := Problem (prior u) (aim u) Free [] None [].
Definition unit_of u := let T := zsum (prior u) in match aim u with
  | Information _ => T * D | ChiSquare => T * T * D * D | Bayes den _ => T * den * D | Linear _ _ => 1 end.
(* A list whose product with a column is at most [unit_of] times what the function is there. *)
Definition under u (p : list Z) : option (list Z) := let W := prior u in let T := zsum W in match aim u with
  | Information gs => groups_under gs p (zeros W)
  | ChiSquare => if alike p W then
      Some (zplus (zscale (T * D * 2) (products W p)) (zscale (- (zdot (products W p) p + T * D * D)) W)) else None
  | Bayes _ gains => if zsum p =? D then mixed W p gains (zeros W) else None
  | Linear _ _ => None end.
Fixpoint under_terms u (y : Z) (ps : list (list Z)) : option terms := match ps with [] => Some []
  | p :: ps => match under u p, under_terms u (y + 1) ps with Some c, Some l => Some (placed 0 y c ++ l) | _, _ => None end end.
Definition convex_ok pb u : bool := well_formed (alone u) && alike (prior u) (weights pb).
(* The terms of a function for m outputs, where there are points for it. *)
Definition shown pb u m ps : option terms := if convex_ok pb u && (zlen ps =? m) then under_terms u 0 ps else None.
Definition times (c : Z) (l : terms) : terms := map (fun t => match t with (x, y, a) => (x, y, c * a) end) l.
Fixpoint limit_rows pb m (ls : list (convex * (Z * Z))) (touches : list (list (list Z))) : option (list row) := match ls, touches with
  | [], [] => Some []
  | (u, (a, b)) :: ls, ps :: touches => match limit_rows pb m ls touches with None => None | Some rs => match ps with [] => Some rs
      | _ => match shown pb u m ps with Some l => if 0 <? b then Some (Row false (a * unit_of u) (times b l) :: rs) else None | None => None end end end
  | _, _ => None end.
Definition more pb u m new := Problem (weights pb) u (base pb) (halfspaces pb) m (rows pb ++ new).
(* The problem with a row for each limit that is touched, and a linear utility where a function is minimised. Outputs that are free
   become one then, the sum of all columns; nothing may be about single outputs. *)
Definition straight (co : with_convex) touches : option with_entropy := let en := inner co in let pb := plain en in match loss co with
  | None => match limit_rows pb (count pb) (limits co) touches with None => None
      | Some new => Some (With_entropy (more pb (objective pb) (outputs pb) new) (bonus en) (floors en)) end
  | Some u => match touches with (p :: ps) :: touches =>
      let m := match outputs pb with Some m => m | None => 1 end in match shown pb u m (p :: ps), limit_rows pb m (limits co) touches with
      | Some l, Some new => if match outputs pb, rows pb, floors en with Some _, _, _ => true | None, [], [] => true | _, _, _ => false end
          then Some (With_entropy (more pb (Linear (unit_of u) (negated l)) (Some m) new) [] (floors en)) else None
      | _, _ => None end | _ => None end end.
Definition accepts co cl touches points hd toks := match straight co touches with Some en => decide en cl points hd toks | None => false end.
Definition excludes co cl touches points hd toks := match straight co touches with Some en => impossible en cl points hd toks | None => false end.

(* At least D d times the relative entropies of a column, of one group. *)
Fixpoint relative_above (N s : Z) (G q : list Z) : option Z := match G, q with
  | g :: G, n :: q => match relative_above N s G q with None => None | Some r => if (g =? 0) || (n =? 0) then Some r else
      match log_above (n * N) s with Some u => Some (g * n * u + r) | None => None end end
  | _, _ => Some 0 end.
Definition square_above (W q : list Z) : option Z := let s := zdot W q in
  Some (if s =? 0 then 0 else ceil (zsum W * zdot W (map (fun n => n * n) q) * D) s - s * D).
(* At least [scale_of] times what a function is, for one column over d. *)
Definition above u (q : list Z) : option Z := let W := prior u in match aim u with
  | Linear _ _ => None | Bayes _ gains => Some (best_gain W q gains) | ChiSquare => square_above W q
  | Information gs => sum_all (fun G => relative_above (zsum G) (zdot G q) G q) gs end.
Definition scale_of u d := let T := zsum (prior u) in match aim u with Bayes den _ => T * den * d | _ => T * d * D end.
Definition at_most_there pb d cols u (a b : Z) : bool := convex_ok pb u && (0 <? b) && match sum_all (above u) cols with
  | Some s => s * b <=? a * scale_of u d | None => false end.
Definition realises co (cl : Z * Z) d lows cols : bool := let en := inner co in
  forallb (fun l => at_most_there (plain en) d cols (fst l) (fst (snd l)) (snd (snd l))) (limits co) && match loss co with
  | None => attains_all en cl d lows cols
  | Some u => attains_all (With_entropy (emptied (plain en)) [] (floors en)) (0, 1) d lows cols
      && at_most_there (plain en) d cols u (- fst cl) (snd cl) end.
Close Scope Z_scope.
Open Scope R_scope.

(* ---- forms below ---- *)
Lemma products_zero : forall W q, Forall (Z.le 0) W -> Forall (Rle 0) q -> dot W q <= 0 -> forall c, dot (products W c) q = 0.
Proof.
  induction W as [|w W IH]; intros [|y q] HW Hq Z0 [|a c]; simpl in *; auto. inversion HW as [|? ? W0 HW']; inversion Hq as [|? ? Y0 Hq']; subst.
  apply IZR_le in W0. pose proof (dot_pos W q HW' Hq'). assert (P : 0 <= IZR w * y) by nra. rewrite IH by (auto; lra). rewrite mult_IZR.
  replace (IZR w * IZR a * y) with (IZR a * (IZR w * y)) by ring. replace (IZR w * y) with 0 by lra. lra.
Qed.
Lemma gradient_ok N m w : 0 < w -> forall G n c q, Forall (Z.le 0) G -> Forall (Rle 0) q -> length q = length G -> gradient N m G n = Some c ->
  length c = length G /\ dot (products G c) q * d + dot G q - w * (IZR N / IZR m) * IZR (zdot G n) <= relative G w q.
Proof.
  intros Hw. pose proof DR_pos as DP. induction G as [|g G IH]; intros [|a n] c [|y q] HG Hq L E; cbn [gradient] in E; try discriminate. { apply Some_inj in E. subst. simpl. split; auto; lra. }
  destruct (gradient N m G n) as [c'|] eqn:GR; [|discriminate]. inversion HG as [|? ? G0 HG']; inversion Hq as [|? ? Y0 Hq']; subst.
  destruct (IH n c' q HG' Hq' ltac:(simpl in L; lia) GR) as [I J]. apply IZR_le in G0. destruct (Z.eqb_spec g 0) as [->|N0].
  - apply Some_inj in E. subst c. simpl. split; [lia|]. lra.
  - destruct (log_below (a * N) m) as [l|] eqn:LG; [|discriminate]. apply Some_inj in E. subst c. simpl. split; [lia|].
    apply log_ok in LG. destruct LG as (P1 & P2 & LG). unfold is_end in LG. fold DR in LG. apply IZR_lt in P1, P2. rewrite mult_IZR in P1, LG.
    assert (Z0 : 0 <= y / w) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto).
    pose proof (tangent (y / w) (IZR a * IZR N / IZR m) (IZR l * d) Z0 ltac:(apply Rdiv_lt_0_compat; auto) ltac:(unfold Rdiv in LG |- *; lra)) as K. simpl in K.
    apply Rmult_le_compat_l with (r := w * IZR g) in K; [|nra].
    replace (w * IZR g * - (y / w * ln (y / w))) with (- (IZR g * (y * ln (y / w)))) in K by (field; lra).
    replace (w * IZR g * (IZR a * IZR N / IZR m - y / w * (1 + IZR l * d))) with (w * (IZR N / IZR m) * (IZR g * IZR a) - IZR g * y * (1 + IZR l * d)) in K by (field; lra).
    rewrite plus_IZR, !mult_IZR. lra.
Qed.
Lemma groups_under_ok (W n : list Z) v : length v = length W -> Forall (Rle 0) v -> forall gs q c, Forall (fun G => length G = length W /\ Forall (Z.le 0) G) gs ->
  length q = length W -> groups_under gs n q = Some c -> length c = length W /\ dot c v * d <= dot q v * d + information gs v.
Proof.
  intros Lv Nv. unfold information. induction gs as [|G gs IH]; intros q c H L E; cbn [groups_under] in E. { apply Some_inj in E. subst. simpl. split; auto; lra. }
  inversion H as [|? ? [LG PG] H']; subst. destruct (Z.eqb_spec (zsum G) 0) as [Z0|N0].
  - destruct (IH q c H' L E) as [I J]. split; auto. simpl. pose proof (zero_sum G v PG Z0) as DZ. destruct (zero_dot G v PG Nv ltac:(lra)) as (R0 & _). rewrite R0. lra.
  - destruct (Z.ltb_spec 0 (zdot G n)) as [M0|]; [|discriminate]. destruct (gradient (zsum G) (zdot G n) G n) as [e|] eqn:GR; [|discriminate].
    assert (LE : length e = length G).
    { destruct (gradient_ok _ _ 1 ltac:(lra) G n e (map (fun _ => 0) G) PG ltac:(apply Forall_map, Forall_forall; intros; lra) ltac:(now rewrite map_length) GR) as [I _]. exact I. }
    assert (LP : length (products G e) = length W) by (rewrite len_products; auto).
    destruct (IH (zplus q (products G e)) c H' ltac:(rewrite len_zplus; lia) E) as [I J]. split; auto. rewrite dot_zplus in J by lia. simpl.
    assert (K : dot (products G e) v * d <= relative G (dot G v / IZR (zsum G)) v); [|lra].
    pose proof (zsum_nonneg G PG) as S0. assert (SP : (0 < zsum G)%Z) by lia. apply IZR_lt in SP, M0.
    destruct (Rle_dec (dot G v) 0) as [Q0|Q0].
    + rewrite (products_zero G v PG Nv Q0). destruct (zero_dot G v PG Nv Q0) as (R0 & _). rewrite R0. lra.
    + destruct (gradient_ok _ _ (dot G v / IZR (zsum G)) ltac:(apply Rdiv_lt_0_compat; lra) G n e v PG Nv ltac:(lia) GR) as [_ K].
      replace (dot G v / IZR (zsum G) * (IZR (zsum G) / IZR (zdot G n)) * IZR (zdot G n)) with (dot G v) in K by (field; lra). lra.
Qed.
Lemma square_gap w : forall W p q, Forall (Z.le 0) W -> length p = length W -> length q = length W ->
  2 * w * d * dot (products W p) q - w * w * d * d * IZR (zdot (products W p) p) <= squares W q.
Proof.
  induction W as [|g W IH]; intros [|a p] [|y q] HW LP LQ; simpl in *; try discriminate; try lra. inversion HW as [|? ? G0 HW']; subst. apply IZR_le in G0.
  specialize (IH p q HW' ltac:(lia) ltac:(lia)). rewrite plus_IZR, !mult_IZR. pose proof (Rle_0_sqr (y - w * d * IZR a)) as S. unfold Rsqr in S.
  apply Rmult_le_compat_l with (r := IZR g) in S; auto. lra.
Qed.
Lemma best_ge a : forall l, In a l -> a <= best l.
Proof.
  induction l as [|b l IH]; [simpl; tauto|]. destruct l as [|c l]. { intros [->|[]]. simpl. lra. }
  change (best (b :: c :: l)) with (Rmax b (best (c :: l))). intros [->|I]. apply Rmax_l. eapply Rle_trans; [|apply Rmax_r]. auto.
Qed.
Lemma mixed_ok (W : list Z) v B : length v = length W -> forall gains p q c, Forall (fun g => length g = length W) gains -> length q = length W ->
  (forall g, In g gains -> dot (products W g) v <= B) -> mixed W p gains q = Some c -> length c = length W /\ dot c v <= dot q v + IZR (zsum p) * B.
Proof.
  intros Lv. induction gains as [|g gains IH]; intros [|a p] q c HG L HB E; cbn [mixed] in E; try discriminate. { apply Some_inj in E. subst. simpl. split; auto; lra. }
  destruct (Z.leb_spec 0 a) as [A0|]; [|discriminate]. inversion HG as [|? ? LG HG']; subst. apply IZR_le in A0.
  assert (LP : length (zscale a (products W g)) = length W) by (rewrite len_scale, len_products; auto).
  destruct (IH p (zplus q (zscale a (products W g))) c HG' ltac:(rewrite len_zplus; lia) (fun g I => HB g (or_intror I)) E) as [I J]. split; auto. rewrite dot_zplus, dot_scale in J by lia.
  pose proof (HB g (or_introl eq_refl)) as K. simpl. rewrite plus_IZR. apply Rmult_le_compat_l with (r := IZR a) in K; auto. lra.
Qed.
Lemma under_ok u p c q : formed (alone u) -> length q = length (prior u) -> Forall (Rle 0) q -> under u p = Some c ->
  (0 < unit_of u)%Z /\ length c = length q /\ dot c q <= IZR (unit_of u) * measure u [q].
Proof.
  intros FM L N E. pose proof (fT _ FM) as T0. pose proof (fW _ FM) as W0. pose proof (fO _ FM) as O. unfold under, unit_of, measure, worth in *. simpl in *.
  set (W := prior u) in *. set (T := zsum W) in *. pose proof DR_pos as DP. pose proof D_pos as DZ. pose proof d_pos as dp. pose proof DRd as DD. pose proof T0 as T1. apply IZR_lt in T1.
  destruct (aim u) as [den cost|den gains|gs|] eqn:F; [discriminate| | |].
  - destruct O as (B0 & GN & GL). destruct (Z.eqb_spec (zsum p) D) as [S|]; [|discriminate]. split; [nia|]. set (b := best (map (fun g => dot (products W g) q) gains)).
    destruct (mixed_ok W q b L gains p (zeros W) c) as [I J]; auto using len_zeros.
    { intros g Ig. apply best_ge. apply in_map_iff. eauto. }
    split; [lia|]. rewrite dot_zeros, S in J. rewrite !mult_IZR. fold DR in *. apply IZR_lt in B0.
    replace (IZR T * IZR den * DR * ((b + 0) / (IZR T * IZR den))) with (DR * b) by (field; lra). lra.
  - destruct O as (OG & _). split; [nia|]. destruct (groups_under_ok W p q L N gs (zeros W) c OG (len_zeros W) E) as [I J]. split; [lia|].
    rewrite dot_zeros in J. rewrite mult_IZR. fold DR. replace (IZR T * DR * ((information gs q + 0) / IZR T)) with (DR * information gs q) by (field; lra).
    apply Rmult_le_compat_l with (r := DR) in J; [|lra]. replace (DR * (dot c q * d)) with (dot c q * (DR * d)) in J by ring. rewrite DD in J. lra.
  - destruct (alike p W) eqn:A; [|discriminate]. apply alike_len in A. apply Some_inj in E. subst c. split; [nia|].
    assert (LP : length (products W p) = length W) by (rewrite len_products; auto). assert (LS : forall a l, length (zscale a l) = length l) by apply len_scale.
    split. { rewrite len_zplus; rewrite !LS; lia. } rewrite dot_zplus by (rewrite !LS; lia). rewrite !dot_scale, opp_IZR, plus_IZR, !mult_IZR. fold DR.
    replace (IZR T * IZR T * DR * DR * ((chi_square W q + 0) / IZR T)) with (IZR T * DR * DR * chi_square W q) by (field; lra). unfold chi_square. fold T. set (S := IZR (zdot (products W p) p)).
    destruct (Rle_dec (dot W q) 0) as [Q0|Q0].
    + rewrite (products_zero W q W0 N Q0). destruct (zero_dot W q W0 N Q0) as (_ & _ & S0 & D0). rewrite S0, D0. unfold Rdiv. lra.
    + set (w := dot W q / IZR T). assert (w0 : 0 < w) by (apply Rdiv_lt_0_compat; lra). assert (DW : dot W q = IZR T * w) by (unfold w; field; lra). rewrite DW.
      pose proof (square_gap w W p q W0 A L) as K. fold S in K. set (X := dot (products W p) q) in *. set (Y := squares W q) in *.
      assert (K2 : 2 * d * X - w * d * d * S <= Y / w).
      { apply (Rmult_le_reg_r w); auto. replace (Y / w * w) with Y by (field; lra). lra. }
      apply Rmult_le_compat_l with (r := IZR T * DR * DR) in K2; [|rewrite Rmult_assoc; apply Rmult_le_pos; nra].
      replace (IZR T * DR * DR * (2 * d * X - w * d * d * S)) with (IZR T * (2 * DR * (DR * d) * X - w * (DR * d) * (DR * d) * S)) in K2 by ring. rewrite DD in K2. lra.
Qed.
Lemma measure_app u q Q : formed (alone u) -> measure u (q :: Q) = measure u [q] + measure u Q.
Proof.
  intros FM. pose proof (fO _ FM) as O. pose proof (fT _ FM) as T0. unfold measure, worth. simpl in *. apply IZR_lt in T0.
  destruct (aim u) as [den cost|den gains|gs|]; simpl; unfold Rdiv; try ring. destruct O as (_ & O & _). congruence.
Qed.
Lemma under_terms_ok u Q : formed (alone u) -> forall ps y l Q', (0 <= y)%Z -> skipn (Z.to_nat y) Q = Q' -> length Q' = length ps ->
  Forall (fun q => length q = length (prior u) /\ Forall (Rle 0) q) Q' -> under_terms u y ps = Some l -> form l Q <= IZR (unit_of u) * measure u Q'.
Proof.
  intros FM. induction ps as [|p ps IH]; intros y l Q' Hy EQ L N E; cbn [under_terms] in E.
  - apply Some_inj in E. subst l. destruct Q'; [|discriminate]. pose proof (fO _ FM) as O. unfold form, measure, worth. simpl in *.
    destruct (aim u); [destruct O as (_ & O & _); congruence| | |]; unfold Rdiv; simpl; rewrite Rmult_0_l, Rmult_0_r; lra.
  - destruct (under u p) as [c|] eqn:U; [|discriminate]. destruct (under_terms u (y + 1) ps) as [l2|] eqn:T; [|discriminate]. apply Some_inj in E. subst l.
    destruct Q' as [|q Q']; [discriminate|]. inversion_clear N as [|? ? [Lq Nq] N']. destruct (skip_next Q y q Q' Hy EQ) as [H1 H2].
    specialize (IH (y + 1)%Z l2 Q' ltac:(lia) H2 ltac:(simpl in L; lia) N' T). destruct (under_ok u p c q FM Lq Nq U) as (_ & _ & K).
    rewrite form_app, placed_ok, H1, measure_app by (auto; lia). simpl. lra.
Qed.
Lemma form_times c Q : forall l, form (times c l) Q = IZR c * form l Q.
Proof. unfold form. induction l as [|[[x y] a] l IH]; simpl; [lra|]. fold (times c l). rewrite IH, mult_IZR. lra. Qed.
(* What is known of the columns of a mechanism, or of their sum. *)
Definition fine k m (Q : list (list R)) := Z.of_nat (length Q) = m /\ Forall (fun q => length q = k /\ Forall (Rle 0) q) Q.
Lemma shown_ok pb u m ps l Q : shown pb u m ps = Some l -> fine (length (weights pb)) m Q ->
  (0 < unit_of u)%Z /\ form l Q <= IZR (unit_of u) * measure u Q.
Proof.
  unfold shown, convex_ok. intros E [LQ HQ]. match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. split_and C.
  apply well_formed_ok in C. apply alike_len in C1. apply Z.eqb_eq in C0. rewrite zlen_len in C0. pose proof (fT _ C) as T0. pose proof (fO _ C) as O. split.
  - unfold unit_of. pose proof D_pos. simpl in *. destruct (aim u); nia.
  - apply (under_terms_ok u Q C ps 0%Z l Q); auto; try lia. rewrite C1. exact HQ.
Qed.
(* What the forms below are worth at one matrix bounds the functions at another: itself, or the columns whose sum it is. *)
Definition covers pb m Q' Q := forall u p ps l, shown pb u m (p :: ps) = Some l -> (0 < unit_of u)%Z /\ form l Q' <= IZR (unit_of u) * measure u Q.
Lemma limit_rows_ok pb m Q' Q : covers pb m Q' Q -> forall ls touches new, limit_rows pb m ls touches = Some new ->
  Forall (within Q) ls -> Forall (holds Q') new.
Proof.
  intros HF. induction ls as [|[u [a b]] ls IH]; intros [|ps touches] new E H; cbn [limit_rows] in E; try discriminate. { apply Some_inj in E. subst. constructor. }
  destruct (limit_rows pb m ls touches) as [rs|] eqn:R; [|discriminate]. inversion_clear H as [|? ? H1 H2]. specialize (IH _ _ R H2).
  destruct ps as [|p ps]. { apply Some_inj in E. now subst. } destruct (shown pb u m (p :: ps)) as [l|] eqn:S; [|discriminate].
  destruct (Z.ltb_spec 0 b) as [B0|]; [|discriminate]. apply Some_inj in E. subst new. constructor; auto. destruct (HF _ _ _ _ S) as [U0 K].
  unfold holds, within in *. simpl in *. rewrite form_times, mult_IZR. apply IZR_lt in U0, B0.
  apply Rmult_le_compat_l with (r := IZR b) in K; [|lra]. apply Rmult_le_compat_l with (r := IZR b * IZR (unit_of u)) in H1; [|nra].
  replace (IZR b * IZR (unit_of u) * (IZR a / IZR b)) with (IZR a * IZR (unit_of u)) in H1 by (field; lra). lra.
Qed.
Lemma covers_itself pb Q : mechanism pb Q -> covers pb (count pb) Q Q.
Proof.
  intros (H & _ & O & _) u p ps l S. unfold count in S. destruct (outputs pb).
  - eapply shown_ok; eauto. split; auto. eapply Forall_impl; [|exact H]. intros q (L & N & _). auto.
  - unfold shown in S. match type of S with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. split_and C. apply Z.eqb_eq in C0. rewrite zlen_len in C0. cbn [length] in C0. lia.
Qed.
Lemma scale_1 : forall q, scale 1 q = q.
Proof. unfold scale. induction q; simpl; auto. rewrite IHq. f_equal. lra. Qed.
Lemma sum_column pb : forall Q, Forall (column pb) Q -> column pb (colsum (length (weights pb)) Q).
Proof.
  induction Q as [|q Q IH]; intros H; simpl.
  - assert (E : forall i, nth i (repeat 0 (length (weights pb))) 0 = 0) by (intros i; destruct (nth_in_or_default i (repeat 0 (length (weights pb))) 0) as [I|]; auto; now apply repeat_spec in I).
    split; [apply repeat_length|]. split. { apply Forall_forall. intros y I. apply repeat_spec in I. lra. } split.
    + assert (E' : forall g b, total (fun x => g x * entry x (repeat 0 (length (weights pb)))) b = 0) by (intros g b; apply total_nothing; intros x; unfold entry; rewrite E; ring).
      destruct (base pb); simpl; auto; intros; unfold given_by; rewrite ?E'; unfold entry; rewrite !E; lra.
    + apply Forall_forall. intros c _. rewrite dot_0. lra.
  - inversion_clear H as [|? ? H1 H2]. rewrite <- (scale_1 (colsum _ Q)). apply column_plus; auto. lra.
Qed.
Lemma covers_sum pb Q : Forall (column pb) Q -> covers pb 1 [colsum (length (weights pb)) Q] Q.
Proof.
  intros HQ u p ps l S. pose proof (sum_column pb Q HQ) as (LC & NC & _). set (k := length (weights pb)) in *.
  assert (F1 : fine k 1 [colsum k Q]) by (split; auto). destruct (shown_ok _ _ _ _ _ _ S F1) as [U0 _]. split; auto.
  unfold shown, convex_ok in S. match type of S with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. split_and C.
  apply well_formed_ok in C. apply alike_len in C1. apply Z.eqb_eq in C0. rewrite zlen_len in C0.
  destruct ps as [|]; cbn [length] in C0; try lia.
  simpl in S. destruct (under u p) as [c|] eqn:U; [|discriminate]. apply Some_inj in S. subst l. rewrite app_nil_r, placed_ok by lia. simpl.
  assert (LQ : Forall (fun q => length q = k) Q) by (eapply Forall_impl; [|exact HQ]; intros q K; apply K).
  destruct (total_colsum c k Q LQ) as [<- _]. clear LC NC F1 LQ. induction HQ as [|q Q Hq HQ IH].
  - pose proof (fO _ C) as O. unfold measure, worth. simpl in *. destruct (aim u); [destruct O as (_ & O & _); congruence| | |]; unfold Rdiv; simpl; rewrite Rmult_0_l, Rmult_0_r; lra.
  - rewrite measure_app by auto. destruct Hq as (Lq & Nq & _). destruct (under_ok u p c q C ltac:(unfold k in *; lia) Nq U) as (_ & _ & K). simpl. lra.
Qed.
Lemma straight_ok co touches en Q : straight co touches = Some en -> fits co Q -> exists Q', kept en Q' /\ nets co Q <= earns en Q'.
Proof.
  unfold straight. intros E [[HQ HK] HL]. set (pb := plain (inner co)) in *. destruct (loss co) as [u|] eqn:LO; unfold nets; rewrite LO.
  - destruct touches as [|[|p ps] touches]; try discriminate. set (m := match outputs pb with Some m => m | None => 1%Z end) in *.
    destruct (shown pb u m (p :: ps)) as [l|] eqn:S; [|discriminate]. destruct (limit_rows pb m (limits co) touches) as [new|] eqn:R; [|discriminate].
    match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. apply Some_inj in E. subst en.
    assert (V : exists Q', covers pb m Q' Q /\ kept (With_entropy (more pb (Linear (unit_of u) (negated l)) (Some m) new) [] (floors (inner co))) Q').
    { pose proof HQ as (H1 & H2 & H3 & H4). destruct (outputs pb) as [n|] eqn:O.
      - exists Q. pose proof (covers_itself pb Q HQ) as V. unfold count in V. rewrite O in V. split; auto. pose proof (limit_rows_ok _ _ _ _ V _ _ _ R HL). split; auto. repeat split; auto. apply Forall_app. auto.
      - exists [colsum (length (weights pb)) Q]. pose proof (covers_sum pb Q H1) as V. split; auto. pose proof (limit_rows_ok _ _ _ _ V _ _ _ R HL) as HN.
        destruct (rows pb) eqn:RW; [|discriminate]. destruct (floors (inner co)); [|discriminate]. split; [|constructor]. split; [|split; [|split]]; simpl.
        + constructor; [exact (sum_column pb Q H1)|constructor].
        + change (plus (colsum (length (weights pb)) Q) (repeat 0 (length (weights pb))) = repeat 1 (length (weights pb))). rewrite H2. clear.
          induction (length (weights pb)) as [|n IH]; simpl; auto. rewrite IH. f_equal. lra.
        + reflexivity.
        + rewrite RW. exact HN. }
    destruct V as (Q' & V & K). exists Q'. split; auto. destruct (V _ _ _ _ S) as [U0 F]. rewrite earns_plain by reflexivity. unfold worth. simpl. rewrite form_negated.
    apply IZR_lt in U0. apply (Rmult_le_reg_r (IZR (unit_of u))); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - exists Q. destruct (limit_rows pb (count pb) (limits co) touches) as [new|] eqn:R; [|discriminate]. apply Some_inj in E. subst en.
    pose proof (limit_rows_ok _ _ _ _ (covers_itself pb Q HQ) _ _ _ R HL) as HN. pose proof HQ as (H1 & H2 & H3 & H4). split; [|unfold earns; simpl; apply Rle_refl].
    split; auto. repeat split; auto. apply Forall_app. auto.
Qed.

Theorem accepts_sound co N M touches points hd toks : accepts co (N, M) touches points hd toks = true -> forall Q, fits co Q -> nets co Q <= IZR N / IZR M.
Proof.
  unfold accepts. intros H Q K. destruct (straight co touches) as [en|] eqn:E; [|discriminate]. destruct (straight_ok _ _ _ _ E K) as (Q' & A & B).
  pose proof (decide_sound _ _ _ _ _ _ H Q' A). lra.
Qed.
Theorem excludes_sound co N M touches points hd toks : excludes co (N, M) touches points hd toks = true -> forall Q, ~ fits co Q.
Proof.
  unfold excludes. intros H Q K. destruct (straight co touches) as [en|] eqn:E; [|discriminate].
  destruct (straight_ok _ _ _ Q E K) as (Q' & A & _). eapply impossible_sound; eauto.
Qed.

(* ---- values ---- *)
Lemma sum_above {A} (f : A -> option Z) (v : A -> R) c : 0 < c -> forall l s, (forall a x, In a l -> f a = Some x -> v a <= IZR x / c) -> sum_all f l = Some s -> total v l <= IZR s / c.
Proof.
  intros Hc. induction l as [|a l IH]; simpl; intros s H E. { apply Some_inj in E. subst. unfold Rdiv. lra. }
  destruct (f a) as [x|] eqn:F; [|discriminate]. destruct (sum_all f l) as [y|]; [|discriminate]. apply Some_inj in E. subst s.
  pose proof (H a x (or_introl eq_refl) F). specialize (IH y (fun b z I => H b z (or_intror I)) eq_refl). rewrite plus_IZR. unfold Rdiv in *. lra.
Qed.
Lemma relative_above_ok dn N s : (0 < dn)%Z -> forall G q r, Forall (Z.le 0) G -> Forall (Z.le 0) q -> relative_above N s G q = Some r ->
  relative G (IZR s / IZR dn / IZR N) (real dn q) <= IZR r / (DR * IZR dn).
Proof.
  intros Hd. pose proof DR_pos as DP. apply IZR_lt in Hd. induction G as [|g G IH]; intros [|n q] r HG Hq E; cbn [relative_above] in E; simpl;
    try (apply Some_inj in E; subst; unfold Rdiv; lra). fold (real dn q). destruct (relative_above N s G q) as [r'|] eqn:R; [|discriminate].
  inversion HG as [|? ? G0 HG']; inversion Hq as [|? ? n0 Hq']; subst. specialize (IH q r' HG' Hq' R). apply IZR_le in G0.
  destruct ((g =? 0) || (n =? 0))%Z%bool eqn:Z0.
  - apply Some_inj in E. subst r'. apply orb_prop in Z0. destruct Z0 as [Z0|Z0]; apply Z.eqb_eq in Z0; subst.
    + rewrite Rmult_0_l. lra.
    + replace (0 / IZR dn) with 0 by (unfold Rdiv; ring). rewrite Rmult_0_l, Rmult_0_r. lra.
  - destruct (log_above (n * N) s) as [u|] eqn:L; [|discriminate]. apply Some_inj in E. subst r. apply log_ok in L. destruct L as (P1 & P2 & L). unfold is_end in L. fold DR in L.
    assert (N0 : (0 < N)%Z) by nia. assert (n1 : (0 < n)%Z) by nia. apply IZR_lt in N0, n1, P2. rewrite mult_IZR in L.
    replace (IZR n / IZR dn / (IZR s / IZR dn / IZR N)) with (IZR n * IZR N / IZR s) by (field; repeat split; lra).
    rewrite plus_IZR, !mult_IZR. assert (K : 0 <= IZR g * (IZR n / IZR dn)). { apply Rmult_le_pos; auto. apply Rlt_le, Rdiv_lt_0_compat; auto. }
    apply Rmult_le_compat_l with (r := IZR g * (IZR n / IZR dn)) in L; auto.
    replace ((IZR g * IZR n * IZR u + IZR r') / (DR * IZR dn)) with (IZR g * (IZR n / IZR dn) * (IZR u / DR) + IZR r' / (DR * IZR dn)) by (field; lra). lra.
Qed.
Lemma above_ok u dn q s : (0 < dn)%Z -> formed (alone u) -> Forall (Z.le 0) q -> above u q = Some s ->
  (0 < scale_of u dn)%Z /\ measure u [real dn q] <= IZR s / IZR (scale_of u dn).
Proof.
  intros Hd FM Hq E. pose proof (fT _ FM) as T0. pose proof (fW _ FM) as W0. pose proof (fO _ FM) as O. unfold above, scale_of, measure, worth in *. simpl in *.
  set (W := prior u) in *. set (T := zsum W) in *. pose proof DR_pos as DP. pose proof D_pos as DZ. pose proof Hd as D1. pose proof T0 as T1. apply IZR_lt in D1, T1.
  destruct (aim u) as [den cost|den gains|gs|]; [discriminate| | |].
  - destruct O as (B0 & _). split; [nia|]. apply Some_inj in E. subst s. rewrite best_real by auto. apply IZR_lt in B0. rewrite !mult_IZR. right. field. lra.
  - destruct O as (OG & _). split; [nia|]. apply (sum_above _ (fun G => relative G (dot G (real dn q) / IZR (zsum G)) (real dn q)) (DR * IZR dn) ltac:(nra)) in E.
    2: { intros G x I F. rewrite Forall_forall in OG. destruct (OG G I) as [_ G0]. rewrite dot_real by auto. now apply relative_above_ok. }
    unfold information. rewrite !mult_IZR. fold DR. set (X := total _ gs) in *. apply (Rmult_le_reg_r (IZR T)); auto.
    replace ((X + 0) / IZR T * IZR T) with X by (field; lra). replace (IZR s / (IZR T * IZR dn * DR) * IZR T) with (IZR s / (DR * IZR dn)) by (field; lra). exact E.
  - split; [nia|]. apply Some_inj in E. unfold chi_square. fold T in E |- *. rewrite dot_real, squares_real by auto. rewrite !mult_IZR. fold DR.
    pose proof (zdot_pos W q W0 Hq) as S0. set (a := zdot W q) in *. set (v := zdot W (map (fun n => (n * n)%Z) q)) in *. destruct (Z.eqb_spec a 0) as [Ea|Ea].
    + subst s. rewrite Ea. simpl. unfold Rdiv. rewrite !Rmult_0_l, Rinv_0. lra.
    + assert (a0 : (0 < a)%Z) by lia. pose proof (div_upper (T * v * D) a a0) as U. fold (ceil (T * v * D) a) in U. subst s. rewrite minus_IZR, !mult_IZR in *. fold DR in *. apply IZR_lt in a0.
      apply (Rmult_le_reg_r (IZR T * IZR dn * DR)); [apply Rmult_lt_0_compat; auto; apply Rmult_lt_0_compat; auto|]. set (c := IZR (ceil (T * v * D) a)) in *.
      replace ((c - IZR a * DR) / (IZR T * IZR dn * DR) * (IZR T * IZR dn * DR)) with (c - IZR a * DR) by (field; lra).
      match goal with |- ?l <= _ => replace l with (IZR T * IZR v * DR / IZR a - IZR a * DR) by (field; lra) end. lra.
Qed.
Lemma at_most_ok pb dn cols u a b : (0 < dn)%Z -> (forall q, In q cols -> Forall (Z.le 0) q) -> at_most_there pb dn cols u a b = true ->
  (0 < b)%Z /\ measure u (map (real dn) cols) <= IZR a / IZR b.
Proof.
  unfold at_most_there, convex_ok. intros Hd HC H. split_and H. apply well_formed_ok in H. apply Z.ltb_lt in H1. destruct (sum_all (above u) cols) as [s|] eqn:S; [|discriminate].
  apply Z.leb_le, IZR_le in H0. rewrite !mult_IZR in H0. split; auto. pose proof (fT _ H) as T0. pose proof (fO _ H) as O.
  assert (P0 : (0 < scale_of u dn)%Z). { unfold scale_of. pose proof D_pos. simpl in *. assert (0 < zsum (prior u) * dn)%Z by nia. destruct (aim u); nia. }
  apply IZR_lt in P0, H1. assert (K : measure u (map (real dn) cols) <= IZR s / IZR (scale_of u dn)).
  { apply Rle_trans with (total (fun q => measure u [real dn q]) cols).
    - clear - H. induction cols as [|q cols IH]; simpl; [|rewrite measure_app by auto; lra]. pose proof (fO _ H) as O. unfold measure, worth. simpl in *.
      destruct (aim u); [destruct O as (_ & O & _); congruence| | |]; unfold Rdiv; simpl; lra.
    - eapply sum_above; eauto. intros q x I E. now apply above_ok; auto. }
  eapply Rle_trans; [exact K|]. apply (Rmult_le_reg_r (IZR (scale_of u dn) * IZR b)); [nra|].
  replace (IZR s / IZR (scale_of u dn) * (IZR (scale_of u dn) * IZR b)) with (IZR s * IZR b) by (field; lra).
  replace (IZR a / IZR b * (IZR (scale_of u dn) * IZR b)) with (IZR a * IZR (scale_of u dn)) by (field; lra). exact H0.
Qed.
Theorem realises_sound co N M dn lows cols : realises co (N, M) dn lows cols = true -> fits co (map (real dn) cols) /\ IZR N / IZR M <= nets co (map (real dn) cols).
Proof.
  unfold realises. cbv zeta. intros H. apply andb_prop in H. destruct H as [HL H].
  assert (A : exists en N' M', attains_all en (N', M') dn lows cols = true /\ (kept en (map (real dn) cols) -> kept (inner co) (map (real dn) cols))).
  { destruct (loss co). - split_and H. eexists _, _, _. split; [exact H|]. intros (A & B). split; [exact A|exact B]. - eauto. }
  destruct A as (en & N' & M' & A & KA). pose proof (attains_all_sound _ _ _ _ _ _ A) as [KK _]. apply KA in KK.
  assert (C : (0 < dn)%Z /\ forall q, In q cols -> Forall (Z.le 0) q).
  { assert (B : exists pb cl, attains pb cl dn lows cols = true). { unfold attains_all in A. cbv zeta in A. apply andb_prop in A. destruct A as [_ A].
      destruct (bonus en); [eauto|]. split_and A. destruct (sum_all _ cols); [eauto|discriminate]. }
    destruct B as (pb & cl & B). unfold attains in B. cbv zeta in B. split_and B. apply Z.ltb_lt in B8. split; auto.
    intros q I. rewrite forallb_forall in B6. specialize (B6 q I). split_and B6. now apply nonneg_all. }
  destruct C as [Hd HC]. split.
  - split; auto. rewrite forallb_forall in HL. apply Forall_forall. intros l I. specialize (HL l I). unfold within. eapply at_most_ok; eauto.
  - unfold nets. destruct (loss co) as [u|]; [|apply attains_all_sound in H; apply H]. split_and H. apply at_most_ok in H0; auto. destruct H0 as [M0 K]. cbn [fst snd] in *.
    rewrite opp_IZR in K. unfold Rdiv in *. lra.
Qed.
