(* Each token is sound: what holds for the children of a state holds for the state. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists.
Import ListNotations.
Open Scope R_scope.

Notation d := (/ DR).
Definition vd z := IZR z * d.
Lemma d_pos : 0 < d. Proof. apply Rinv_0_lt_compat, DR_pos. Qed.
Lemma DRd : DR * d = 1. Proof. apply Rinv_r. pose proof DR_pos. lra. Qed.
Lemma vdD : vd D = 1. Proof. apply DRd. Qed.
Lemma vd_mono a b : (a <= b)%Z -> vd a <= vd b.
Proof. intros H. apply IZR_le in H. pose proof d_pos. unfold vd. nra. Qed.

(* ---- entries ---- *)
Definition okent kd e y := (0 <= low e)%Z /\ vd (low e) <= y /\ phi kd (vd (low e)) <= IZR (plow e) * d * d /\
  match high e with None => True | Some (h, p) => y <= vd h /\ phi kd (vd h) <= IZR p * d * d end.
Lemma phi_up_ok kd c p : phi_up kd c = Some p -> phi kd (vd c) <= IZR p * d * d /\ (0 <= c)%Z.
Proof.
  unfold phi_up. destruct (Z.ltb_spec c 0) as [|C]; [discriminate|]. destruct kd; intros E.
  - apply Some_inj in E. subst. simpl. split; auto; lra.
  - destruct (Z.eqb_spec c 0) as [->|N]. { apply Some_inj in E. subst p. unfold vd. simpl. split; [lra|lia]. }
    destruct (log_above c D) as [u|] eqn:L; [|discriminate]. apply Some_inj in E. subst p.
    apply log_ok in L. destruct L as (C0 & _ & L). unfold is_end in L. fold DR in L. split; auto. unfold phi, vd. unfold Rdiv in L.
    apply IZR_le in C. pose proof d_pos. rewrite mult_IZR.
    apply Rle_trans with (IZR c * d * (IZR u * d)). apply Rmult_le_compat_l; [nra|lra]. lra.
  - apply Some_inj in E. subst p. split; auto. unfold vd. simpl. rewrite mult_IZR. lra.
Qed.
Lemma end1 kd w s l p : 0 <= w -> phi kd (vd l) <= p * d * d -> w * phi kd (vd l) + s * d * d * vd l <= (w * p * DR + s * IZR l) * d * d * d.
Proof.
  intros H E. unfold vd in *. replace ((w * p * DR + s * IZR l) * d * d * d) with (w * (p * d * d) * (DR * d) + s * d * d * (IZR l * d)) by ring.
  rewrite DRd. apply Rmult_le_compat_l with (r := w) in E; auto. lra.
Qed.
Lemma d3_mono a b : (a <= b)%Z -> IZR a * d * d * d <= IZR b * d * d * d.
Proof. intros H. apply IZR_le in H. pose proof d_pos. repeat (apply Rmult_le_compat_r; [lra|]). exact H. Qed.
Lemma endsum_ok kd : forall V q b v r, Forall (Z.le 0) V -> length V = length v -> length q = length v -> Forall2 (okent kd) b v ->
  endsum V q b = Some r -> zphi kd V v + dot q v * d * d <= IZR r * d * d * d.
Proof.
  induction V as [|w V]; intros q b v r HV LV Lq HB; destruct q as [|s q], v as [|y v]; simpl in LV, Lq; try discriminate;
    inversion HB as [|e ? b' ? He Hb]; subst; intros E; cbn [endsum zphi dot] in *. { apply Some_inj in E. subst. lra. }
  destruct (endsum V q b') as [r'|] eqn:Er; [|discriminate]. inversion HV as [|? ? Hw HV']; subst. apply IZR_le in Hw.
  specialize (IHV q b' v r' HV' ltac:(lia) ltac:(lia) Hb Er). destruct He as (A & B & C & G). pose proof d_pos as dp.
  pose proof (end1 kd (IZR w) (IZR s) _ _ Hw C) as K1. apply IZR_le in A.
  assert (L0 : 0 <= vd (low e)) by (unfold vd; nra). destruct (high e) as [[h p]|].
  - destruct G as [G1 G2]. apply Some_inj in E. subst r. pose proof (end1 kd (IZR w) (IZR s) _ _ Hw G2) as K2.
    pose proof (ends kd (IZR w) (IZR s * d * d) (vd (low e)) (vd h) y Hw L0 (conj B G1)) as K.
    set (f1 := (w * plow e * D + s * low e)%Z) in *. set (f2 := (w * p * D + s * h)%Z) in *.
    assert (M : Rmax (IZR w * phi kd (vd (low e)) + IZR s * d * d * vd (low e)) (IZR w * phi kd (vd h) + IZR s * d * d * vd h) <= IZR (Z.max f1 f2) * d * d * d).
    { apply Rmax_lub; eapply Rle_trans; [exact K1| |exact K2|].
      eapply Rle_trans; [|apply d3_mono, Z.le_max_l]. unfold f1. rewrite plus_IZR, !mult_IZR. fold DR. lra.
      eapply Rle_trans; [|apply d3_mono, Z.le_max_r]. unfold f2. rewrite plus_IZR, !mult_IZR. fold DR. lra. }
    rewrite plus_IZR. lra.
  - destruct ((w =? 0) && (s <=? 0))%Z%bool eqn:Q; [|discriminate]. apply andb_prop in Q. destruct Q as [Q1 Q2].
    apply Z.eqb_eq in Q1. apply Z.leb_le, IZR_le in Q2. subst w. apply Some_inj in E. subst r.
    rewrite !plus_IZR, !mult_IZR. unfold vd in B.
    assert (0 < d * d) by nra. assert (IZR s * y <= IZR s * (IZR (low e) * d)) by nra.
    assert (IZR s * y * (d * d) <= IZR s * (IZR (low e) * d) * (d * d)) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(* ---- what one entry of each group is worth ---- *)
Lemma zero_dot : forall G v, Forall (Z.le 0) G -> Forall (Rle 0) v -> dot G v <= 0 ->
  (forall w, relative G w v = 0) /\ zphi Entropic G v = 0 /\ squares G v = 0 /\ dot G v = 0.
Proof.
  induction G as [|g G]; destruct v as [|y v]; simpl; intros H1 H2 Z0; repeat split; auto; inversion H1 as [|? ? A B]; inversion H2 as [|? ? C E]; subst;
    apply IZR_le in A; pose proof (dot_pos G v B E); assert (Q : IZR g * y = 0) by nra; destruct (IHG v B E ltac:(lra)) as (K1 & K2 & K3 & K4).
  - intros w. rewrite K1, <- Rmult_assoc, Q. ring.
  - rewrite K2, <- Rmult_assoc, Q. ring.
  - rewrite K3, <- Rmult_assoc, Q. ring.
  - lra.
Qed.
Lemma relative_ok w : 0 < w -> forall G v, Forall (Rle 0) v -> relative G w v = zphi Entropic G v - dot G v * ln w.
Proof.
  intros Hw. induction G; destruct v; simpl; intros H; try lra. inversion H as [|? ? A B]; subst. rewrite IHG by auto.
  destruct A as [A|<-]; [|lra]. unfold Rdiv. rewrite ln_mult, ln_Rinv; auto using Rinv_0_lt_compat. lra.
Qed.
Lemma zero_sum : forall G v, Forall (Z.le 0) G -> zsum G = 0%Z -> dot G v = 0.
Proof.
  induction G as [|g G]; destruct v; simpl; intros H E; auto. inversion H as [|? ? A B]; subst.
  assert (0 <= zsum G)%Z. { clear - B. induction B; simpl; lia. } rewrite IHG by (auto; lia). replace g with 0%Z by lia. lra.
Qed.
Lemma zsum_nonneg G : Forall (Z.le 0) G -> (0 <= zsum G)%Z.
Proof. induction 1; simpl; lia. Qed.
Lemma relative_split G v : Forall (Z.le 0) G -> Forall (Rle 0) v ->
  relative G (dot G v / IZR (zsum G)) v = zphi Entropic G v - IZR (zsum G) * xlogx (dot G v / IZR (zsum G)).
Proof.
  intros HG Hv. destruct (Rle_dec (dot G v) 0) as [Q|Q].
  - destruct (zero_dot G v HG Hv Q) as (K1 & K2 & _ & K3). rewrite K1, K2, K3. unfold Rdiv. rewrite Rmult_0_l. simpl. lra.
  - assert (T0 : 0 < IZR (zsum G)).
    { apply IZR_lt. pose proof (zsum_nonneg G HG). destruct (Z.eq_dec (zsum G) 0) as [Z0|]; [|lia]. rewrite (zero_sum G v HG Z0) in Q. lra. }
    rewrite relative_ok; auto. unfold phi. field. lra. apply Rdiv_lt_0_compat; lra.
Qed.
Lemma squares_zphi : forall W v, squares W v = zphi Square W v.
Proof. induction W; destruct v; simpl; auto. rewrite IHW. auto. Qed.
Lemma zphi_zplus kd : forall a b v, length a = length b -> zphi kd (zplus a b) v = zphi kd a v + zphi kd b v.
Proof. induction a; destruct b, v; simpl; intros L; try discriminate; try lra. rewrite IHa, plus_IZR by lia. lra. Qed.
Lemma fold_groups (W : list Z) : forall gs, Forall (fun G => length G = length W) gs ->
  length (fold_right zplus (zeros W) gs) = length W /\
  (forall kd v, zphi kd (fold_right zplus (zeros W) gs) v = total (fun G => zphi kd G v) gs) /\
  (forall v, dot (fold_right zplus (zeros W) gs) v = total (fun G => dot G v) gs).
Proof.
  induction gs as [|G gs]; simpl; intros H.
  - split; [apply len_zeros|]. split; intros. apply zphi_zeros. apply dot_zeros.
  - inversion H as [|? ? A B]; subst. destruct (IHgs B) as (L & E & F). rewrite len_zplus by lia. split; auto.
    split; intros. rewrite zphi_zplus, E by lia. auto. rewrite dot_zplus, F by lia. auto.
Qed.
Lemma tangents_ok v : Forall (Rle 0) v -> forall gs ts q c q' c', Forall (fun G => length G = length v /\ Forall (Z.le 0) G) gs ->
  length q = length v -> tangents gs ts q c = Some (q', c') -> length q' = length v /\
  information gs v + (dot q' v - dot q v) * d <= total (fun G => zphi Entropic G v) gs + (IZR c' - IZR c) * d.
Proof.
  intros Hv. unfold information. induction gs as [|G gs]; intros [|t ts] q c q' c' H L E; simpl in E |- *; try discriminate.
  { apply Some_inj in E. injection E as <- <-. split; auto. lra. }
  destruct (log_below t D) as [l|] eqn:Q; [|discriminate]. inversion H as [|? ? [A A0] B]; subst.
  assert (LG : length (zscale (D + l) G) = length q) by (rewrite len_scale; lia).
  assert (L1 : length (zplus q (zscale (D + l) G)) = length v) by (rewrite len_zplus; auto).
  destruct (IHgs ts _ _ q' c' B L1 E) as [L' I]. split; auto.
  rewrite dot_zplus, dot_scale, plus_IZR in I by lia. rewrite plus_IZR, mult_IZR in I. fold DR in I.
  apply log_ok in Q. destruct Q as (t0 & _ & Q). unfold is_end in Q. fold DR in Q. apply IZR_lt in t0. pose proof d_pos as dp.
  pose proof (zsum_nonneg G A0) as T0. apply IZR_le in T0. rewrite relative_split by auto.
  assert (K : - (IZR (zsum G) * xlogx (dot G v / IZR (zsum G))) <= IZR (zsum G) * (IZR t * d) - dot G v * (1 + IZR l * d)).
  { destruct T0 as [T0|T0].
    - pose proof (dot_pos G v A0 Hv) as P0. pose proof (tangent (dot G v / IZR (zsum G)) (IZR t * d) (IZR l * d)) as K.
      assert (W0 : 0 <= dot G v / IZR (zsum G)). { apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat. lra. }
      specialize (K W0 ltac:(nra) ltac:(unfold Rdiv in Q; lra)). apply Rmult_le_compat_l with (r := IZR (zsum G)) in K; [|lra].
      replace (dot G v * (1 + IZR l * d)) with (IZR (zsum G) * (dot G v / IZR (zsum G) * (1 + IZR l * d))) by (field; pose proof DR_pos; lra). lra.
    - rewrite (zero_sum G v A0) by (apply eq_IZR; auto). rewrite <- T0. lra. }
  assert (E1 : IZR (zsum G) * IZR t * d = IZR (zsum G) * (IZR t * d)) by ring.
  assert (E2 : (DR + IZR l) * dot G v * d = dot G v * (1 + IZR l * d)).
  { replace ((DR + IZR l) * dot G v * d) with (dot G v * (DR * d + IZR l * d)) by ring. now rewrite DRd. }
  lra.
Qed.

Section Rules.
Variable en : env.
Notation W := (wts en).
Notation T := (total_ en).
Notation E := (unit_ en).
Notation kd := (knd en).
Definition edges_hold es v := forall e x z g h, edge_at es e = Some (x, z, g, h) ->
  (0 <= x)%Z /\ (0 <= z)%Z /\ (0 <= g)%Z /\ (0 < h)%Z /\ IZR h * entry x v <= IZR g * entry z v.
Record env_ok : Prop := EnvOk {
  W0 : Forall (Z.le 0) W; E0 : (0 < E)%Z; T0 : (0 < T)%Z; TW : T = zsum W;
  gs0 : kd = Entropic -> Forall (fun G => length G = length W /\ Forall (Z.le 0) G) (groups en) /\ fold_right zplus (zeros W) (groups en) = W;
  corner0 : forall G p, corner en = Some (G, p) -> (D <= G)%Z /\ phi kd (vd G) <= IZR p * d * d;
  forms0 : Forall (fun f => length f = length W) (forms en);
  halfs0 : Forall (fun f => length f = length W) (halfs en) }.
Hypothesis OK : env_ok.
Fixpoint slim (fs : list (list Z)) (ls : list (Z * Z)) (v : list R) : Prop := match fs, ls with
  | f :: fs, (a, b) :: ls => vd a <= dot f v <= vd b /\ slim fs ls v | [], [] => True | _, _ => False end.
Definition satcol c v := Forall2 (okent kd) (ents c) v /\ slim (forms en) (lims c) v.
Record dom (v : list R) : Prop := Dom {
  dlen : length v = length W; dpos : Forall (Rle 0) v; dedges : edges_hold (edges en) v;
  dhalfs : Forall (fun c => dot c v <= 0) (halfs en);
  dcorner : forall G p, corner en = Some (G, p) -> Forall (fun y => y = 1 \/ y = vd G) v;
  dslice : corner en = None -> kd = Square -> dot W v = IZR T }.

(* ---- LIN and ENDS ---- *)
Lemma add_flows_ok v : edges_hold (edges en) v -> forall l t t', add_flows (edges en) l t = Some t' -> tdot 0 t v <= tdot 0 t' v.
Proof.
  intros Ev. induction l as [|[e f] l]; simpl; intros t t' H. { apply Some_inj in H. subst. lra. }
  destruct (edge_at (edges en) e) as [[[[x z] g] h]|] eqn:Q; [|discriminate]. destruct (Z.leb_spec 0 f) as [F|]; [|discriminate].
  destruct (Ev _ _ _ _ _ Q) as (X & Z0 & G & H0 & K). apply IHl in H. eapply Rle_trans; [|exact H].
  rewrite !tdot_bump by auto. destruct (Z.leb_spec 0 x), (Z.leb_spec 0 z); try lia. rewrite !Z.sub_0_r, opp_IZR, !mult_IZR.
  apply IZR_le in F. nra.
Qed.
Lemma add_halfs_ok v : Forall (fun c => length c = length v) (halfs en) -> Forall (fun c => dot c v <= 0) (halfs en) -> forall l q q',
  length q = length v -> add_halfs (halfs en) l q = Some q' -> dot q v <= dot q' v /\ length q' = length v.
Proof.
  intros H1 H2. induction l as [|[i u] l]; simpl; intros q q' L H. { apply Some_inj in H. subst. split; auto. lra. }
  destruct (nthz i (halfs en)) as [c|] eqn:Q; [|discriminate]. destruct (Z.leb_spec 0 u) as [U|]; [|discriminate].
  apply nthz_in in Q. rewrite Forall_forall in H1, H2. specialize (H1 c Q). specialize (H2 c Q).
  assert (Lc : length q = length (zscale (- u) c)) by (rewrite len_scale; lia).
  assert (L1 : length (zplus q (zscale (- u) c)) = length v) by (rewrite len_zplus; auto).
  destruct (IHl _ _ L1 H) as [A B]. split; auto. rewrite dot_zplus, dot_scale, opp_IZR in A by auto. apply IZR_le in U. nra.
Qed.
Lemma add_forms_ok v : forall fs ls ms q c q' c', Forall (fun f => length f = length v) fs -> length q = length v -> slim fs ls v ->
  add_forms fs ls ms q c = (q', c') -> dot q v + IZR c <= dot q' v + IZR c' /\ length q' = length v.
Proof.
  induction fs as [|f fs]; intros [|[a b] ls] ms q c q' c' HF L H; simpl in H |- *; try tauto;
    try (intros Q; injection Q as <- <-; split; [lra|auto]).
  destruct ms as [|m ms]; [intros Q; injection Q as <- <-; split; [lra|auto]|]. intros Q.
  inversion HF as [|? ? F1 F2]; subst. destruct H as [[H1 H2] H].
  assert (Lf : length q = length (zscale (- (m * D)) f)) by (rewrite len_scale; lia).
  assert (L1 : length (zplus q (zscale (- (m * D)) f)) = length v) by (rewrite len_zplus; auto).
  destruct (IHfs ls ms _ _ _ _ F2 L1 H Q) as [I J]. split; auto. eapply Rle_trans; [|exact I].
  rewrite dot_zplus, dot_scale, opp_IZR, plus_IZR, !mult_IZR by auto. fold DR. unfold vd in *. pose proof DR_pos as DP.
  apply Rmult_le_compat_r with (r := DR) in H1, H2; try lra. rewrite Rmult_assoc, (Rmult_comm d), DRd in H1, H2.
  destruct (Z.leb_spec 0 m) as [M|M]. apply IZR_le in M. nra. apply IZR_lt in M. nra.
Qed.
Lemma upper_ok c V q c0 m u v : Forall (Z.le 0) V -> length V = length v -> length q = length v -> dom v -> satcol c v ->
  upper en c V q c0 m = Some u -> zphi kd V v + dot q v * d * d + IZR c0 * d * d * d <= IZR u * d * d * d.
Proof.
  intros HV LV Lq Dv [Hb Hl]. unfold upper. pose proof (dlen v Dv) as Lv.
  destruct (add_flows (edges en) (flows m) Tip) as [t|] eqn:A; [|discriminate].
  apply (add_flows_ok v (dedges v Dv)) in A. rewrite tdot_tip in A.
  destruct (add_halfs (halfs en) (against m) (merge 0 t q)) as [q1|] eqn:B; [|discriminate].
  apply (add_halfs_ok v) in B; [|rewrite Lv; apply (halfs0 OK)|apply (dhalfs v Dv)|rewrite len_merge; auto]. destruct B as [B L1].
  rewrite dot_merge in B by auto. destruct (add_forms (forms en) (lims c) (along m) q1 0) as [q2 c1] eqn:C.
  apply (add_forms_ok v) in C; auto; [|rewrite Lv; apply (forms0 OK)]. destruct C as [C L2].
  destruct (endsum V q2 (ents c)) as [r|] eqn:F; [|discriminate]. intros Q. apply Some_inj in Q. subst u.
  pose proof (endsum_ok kd V q2 _ v r HV LV L2 Hb F) as K. rewrite !plus_IZR, mult_IZR. fold DR. pose proof d_pos as dp.
  assert (dot q v * d * d <= (dot q2 v + IZR c1) * d * d) by (repeat (apply Rmult_le_compat_r; [lra|]); lra).
  replace ((IZR c0 + IZR c1 * DR + IZR r) * d * d * d) with (IZR c0 * d * d * d + IZR c1 * d * d * (DR * d) + IZR r * d * d * d) by ring.
  rewrite DRd. lra.
Qed.
Lemma not_above_ok c V q c0 m v : Forall (Z.le 0) V -> length V = length v -> length q = length v -> dom v -> satcol c v ->
  not_above (upper en c V q c0 m) = true -> zphi kd V v + dot q v * d * d + IZR c0 * d * d * d <= 0.
Proof.
  intros HV LV Lq Dv Sv H. unfold not_above in H. destruct (upper en c V q c0 m) as [u|] eqn:U; [|discriminate].
  apply Z.leb_le in H. apply d3_mono in H. eapply Rle_trans; [eapply upper_ok; eauto|]. lra.
Qed.

(* ---- leaves ---- *)
Definition gain v := match kd with Plain => 0 | Entropic => information (groups en) v | Square => chi_square W v end.
Definition owes (own : list Z) v := IZR E * gain v - dot own v <= 0.
Lemma Dd2 r : DR * DR * r * d * d = r.
Proof. replace (DR * DR * r * d * d) with ((DR * d) * (DR * d) * r) by ring. rewrite DRd. ring. Qed.
Lemma two_values g : forall V v, length v = length V -> Forall (fun y => y = 1 \/ y = g) v ->
  zphi Square V v = (1 + g) * dot V v - g * IZR (zsum V).
Proof.
  induction V as [|w V]; destruct v as [|y v]; simpl; intros L H; try discriminate; [lra|]. inversion H as [|? ? A B]; subst.
  rewrite IHV, plus_IZR by (auto; lia). destruct A; subst; ring.
Qed.
Lemma leaf_ok own c ts m v : leaf en own c ts m = true -> length own = length W -> dom v -> satcol c v -> owes own v.
Proof.
  unfold leaf, burden, owes, gain. intros H Lo Dv Sv. pose proof (dlen v Dv) as Lv. pose proof (dpos v Dv) as Pv.
  pose proof DR_pos as DP. pose proof d_pos as dp. pose proof (E0 OK) as HE. apply IZR_lt in HE. pose proof (T0 OK) as HT. apply IZR_lt in HT.
  assert (Lq : length (zscale (- (D * D)) own) = length v) by (rewrite len_scale; lia).
  assert (Eq : forall c r, dot own v * r = c -> dot (zscale (- (D * D)) own) v * d * d = - dot own v).
  { intros. rewrite dot_scale, opp_IZR, mult_IZR. fold DR. rewrite <- (Dd2 (dot own v)) at 2. ring. }
  specialize (Eq _ 0 eq_refl). destruct kd eqn:K.
  - destruct ts; [|discriminate]. pose proof (fun X Y => not_above_ok c (zeros own) _ _ m v X Y Lq Dv Sv H) as U. rewrite K in U.
    specialize (U (zeros_nonneg own) ltac:(rewrite len_zeros; lia)). rewrite Eq, zphi_zeros in U. lra.
  - destruct (tangents (groups en) ts (zeros own) 0) as [[q' c']|] eqn:G; [|discriminate].
    destruct (gs0 OK K) as [G1 G2]. apply (tangents_ok v Pv) in G; [|rewrite Lv; auto|rewrite len_zeros; lia]. destruct G as [L' G].
    assert (Lr : length (zscale (- (E * D)) q') = length v) by (rewrite len_scale; lia).
    pose proof (fun X Y Z => not_above_ok c (zscale E W) _ _ m v X Y Z Dv Sv H) as U. rewrite K in U.
    specialize (U (scale_nonneg E W ltac:(apply Z.lt_le_incl, (E0 OK)) (W0 OK)) ltac:(rewrite len_scale; lia) ltac:(rewrite len_zplus; lia)).
    rewrite dot_zplus, zphi_scale in U by lia. rewrite !Rmult_plus_distr_r, Eq in U.
    rewrite (dot_scale (- (E * D))), opp_IZR, !mult_IZR in U. fold DR in U. rewrite dot_zeros in G.
    destruct (fold_groups W (groups en)) as (_ & F & _). { eapply Forall_impl; [|exact G1]. simpl. tauto. }
    specialize (F Entropic v). rewrite G2 in F. rewrite <- F in G.
    replace (- (IZR E * DR) * dot q' v * d * d) with (- (IZR E * (dot q' v * d)) * (DR * d)) in U by ring.
    replace (IZR E * DR * DR * IZR c' * d * d * d) with (IZR E * (IZR c' * d) * (DR * d) * (DR * d)) in U by ring. rewrite DRd in U.
    apply Rmult_le_compat_l with (r := IZR E) in G; lra.
  - unfold chi_square. rewrite <- (TW OK), squares_zphi. destruct (corner en) as [[G p]|] eqn:C.
    + destruct ts as [|r [|]]; try discriminate. destruct (corner0 OK G p C) as [HG _]. apply vd_mono in HG. rewrite vdD in HG.
      pose proof (dcorner v Dv G p C) as Cv. pose proof (two_values (vd G) W v Lv Cv) as S2.
      set (R0 := ceil (G * (r * r)) D) in *.
      pose proof (fun X Y Z => not_above_ok c (zeros own) _ _ m v X Y Z Dv Sv H) as U. rewrite K in U.
      assert (LW : length (zscale (E * (R0 - D * D)) W) = length v) by (rewrite len_scale; lia).
      specialize (U (zeros_nonneg own) ltac:(rewrite len_zeros; lia) ltac:(rewrite len_zplus; lia)).
      rewrite dot_zplus, zphi_zeros in U by lia. rewrite !Rmult_plus_distr_r, Eq in U.
      rewrite (dot_scale (E * (R0 - D * D))), !mult_IZR, minus_IZR, mult_IZR in U. fold DR in U.
      rewrite minus_IZR, plus_IZR, !mult_IZR in U. fold DR in U. rewrite <- (TW OK) in S2.
      assert (P1 : IZR T <= dot W v).
      { pose proof (dot_above 1 W v (W0 OK) Lv ltac:(lra)) as P1. rewrite <- (TW OK) in P1. rewrite Rmult_1_l in P1. apply P1.
        eapply Forall_impl; [|exact Cv]. simpl. intros a [->| ->]; lra. }
      set (w := dot W v) in *. set (g := vd G) in *. set (rho := IZR r * d). set (S := IZR T) in *.
      assert (C0 : g * (rho * rho) <= IZR R0 * d * d).
      { unfold R0, ceil. pose proof (div_upper (G * (r * r)) D D_pos) as V. rewrite !mult_IZR in V. fold DR in V. unfold Rdiv in V.
        apply Rmult_le_compat_r with (r := d * d) in V; [|nra]. unfold g, vd, rho. lra. }
      assert (I : S * ((1 + g) * w - g * S) / w - w <= S * (1 + g - 2 * g * rho) + w * (g * (rho * rho) - 1)).
      { replace (S * ((1 + g) * w - g * S) / w) with (S * (1 + g) - g * (S * S / w)) by (field; lra).
        assert (J : 2 * rho * S - rho * rho * w <= S * S / w).
        { apply Rmult_le_reg_r with w; [lra|]. replace (S * S / w * w) with (S * S) by (field; lra). pose proof (Rle_0_sqr (S - rho * w)). unfold Rsqr in *. nra. }
        apply Rmult_le_compat_l with (r := g) in J; [|lra]. lra. }
      rewrite S2. replace (((1 + g) * w - g * S) / (w / S) - S * (w / S)) with (S * ((1 + g) * w - g * S) / w - w) by (field; lra).
      apply Rmult_le_compat_l with (r := IZR E) in I; [|lra].
      apply Rmult_le_compat_l with (r := IZR E * w) in C0; [|nra].
      replace (IZR E * (IZR R0 - DR * DR) * w * d * d) with (IZR E * w * (IZR R0 * d * d) - IZR E * w * ((DR * d) * (DR * d))) in U by ring.
      replace (IZR E * S * (DR * DR * DR + IZR G * DR * DR - 2 * IZR G * IZR r * DR) * d * d * d)
        with (IZR E * S * ((DR * d) * (DR * d) * (DR * d) + g * ((DR * d) * (DR * d)) - 2 * g * rho * (DR * d))) in U by (unfold g, vd, rho; ring).
      rewrite DRd in U. lra.
    + destruct ts; [|discriminate]. pose proof (dslice v Dv C K) as S1.
      pose proof (fun X Y => not_above_ok c (zscale E W) _ _ m v X Y Lq Dv Sv H) as U. rewrite K in U.
      specialize (U (scale_nonneg E W ltac:(apply Z.lt_le_incl, (E0 OK)) (W0 OK)) ltac:(rewrite len_scale; lia)).
      rewrite Eq, zphi_scale, opp_IZR, !mult_IZR in U. fold DR in U. rewrite S1.
      replace (- (IZR E * IZR T * DR * DR * DR) * d * d * d) with (- (IZR E * IZR T) * (DR * d) * (DR * d) * (DR * d)) in U by ring. rewrite DRd in U.
      replace (IZR T / IZR T) with 1 by (field; lra). unfold Rdiv. rewrite Rinv_1. lra.
Qed.

(* ---- the other tokens ---- *)
Fixpoint all_owe (A : list Z) (t : trie Z) (y : Z) (vs : list (list R)) : Prop := match vs with
  | [] => True | v :: vs => owes (zscale T (merge (y * zlen W) t A)) v /\ all_owe A t (y + 1) vs end.
Definition goal own vs := if sheets en then exists A ls t b, length A = length W /\
    add_rows (zlen W) 1 (couplings en) ls Tip 0 = Some (t, b) /\ pays (claim en) E (zsum A + b) = true /\ all_owe A t 0 vs
  else match vs with [v] => owes own v | _ => False end.
Definition sat st vs := Forall2 satcol (cols st) vs.
Definition good st := (sheets en = false -> length (own st) = length W) -> forall vs, Forall dom vs -> sat st vs -> goal (own st) vs.

Lemma sheet_ok A t : length A = length W -> forall cs parts y vs, Forall dom vs -> Forall2 satcol cs vs ->
  sheet en (zlen W) y A t cs parts = true -> all_owe A t y vs.
Proof.
  intros LA cs parts y vs Dv Sv. revert parts y. induction Sv as [|c v cs vs H0 H IH]; intros [|[ts m] parts] y E1; simpl in *; auto; try discriminate.
  inversion Dv; subst. split_and E1. split; [|eapply IH; eauto].
  eapply leaf_ok; eauto. rewrite len_scale, len_merge. auto.
Qed.
Lemma sat_ent y x f st vs v : sat st vs -> nthz y vs = Some v ->
  (forall e, nthz x v = Some (entry x v) -> okent kd e (entry x v) -> okent kd (f e) (entry x v)) ->
  sat (with_col y (fun c => Col (updz x f (ents c)) (lims c)) st) vs.
Proof.
  intros S Hv K. apply updz_ok; auto. intros c v' _ V' [A B]. rewrite Hv in V'. apply Some_inj in V'. subst v'. split; auto.
  apply updz_ok; auto. intros e w _ Hw. pose proof (nthz_entry _ _ _ Hw). subst w. auto.
Qed.
Lemma sat_high y x h p st vs v : sat st vs -> nthz y vs = Some v -> phi kd (vd h) <= IZR p * d * d -> entry x v <= vd h ->
  sat (with_col y (set_high x h p) st) vs.
Proof. intros S Hv P0 K. apply (sat_ent y x _ st vs v); auto. intros e _ (A & B & C & _). repeat split; auto. Qed.
Lemma sat_low y x l p st vs v : sat st vs -> nthz y vs = Some v -> (0 <= l)%Z -> phi kd (vd l) <= IZR p * d * d -> vd l <= entry x v ->
  sat (with_col y (set_low x l p) st) vs.
Proof. intros S Hv L P0 K. apply (sat_ent y x _ st vs v); auto. intros e _ (A & B & C & G). repeat split; auto. Qed.
Lemma ent_at_ok st vs y x e : Forall dom vs -> sat st vs -> ent_at st y x = Some e ->
  exists v, nthz y vs = Some v /\ dom v /\ okent kd e (entry x v) /\ (0 <= x)%Z /\ nthz x v = Some (entry x v).
Proof.
  unfold ent_at. intros Dv S H. destruct (nthz y (cols st)) as [c|] eqn:C; [|discriminate].
  destruct (Forall2_nthz _ _ _ S _ _ C) as (v & Hv & Sc & _). rewrite Forall_forall in Dv. exists v. split; auto. split; eauto using nthz_in.
  destruct (Forall2_nthz _ _ _ Sc _ _ H) as (w & Hw & O). pose proof (nthz_entry _ _ _ Hw). subst w. eauto using nthz_range.
Qed.
Lemma slim_upd f v : forall fs ls i q, slim fs ls v -> nthz i fs = Some q ->
  (forall a b, vd a <= dot q v <= vd b -> vd (fst (f (a, b))) <= dot q v <= vd (snd (f (a, b)))) -> slim fs (updz i f ls) v.
Proof.
  induction fs as [|g fs]; intros [|[a b] ls] i q H N K; simpl in *; try tauto. destruct (i =? 0)%Z; simpl.
  - apply Some_inj in N. subst g. destruct H as [H H']. apply K in H. destruct (f (a, b)). simpl in H. tauto.
  - split; [tauto|]. eapply IHfs; eauto. tauto.
Qed.
Lemma count_high g v : Forall (fun y => y = 1 \/ y = g) v -> forall f, length f = length v ->
  exists n, dot f v = IZR (zsum f) + (g - 1) * IZR n /\ (Forall (Z.le 0) f -> (0 <= n <= zsum f)%Z).
Proof.
  induction 1 as [|y v H0 H IH]; intros [|c f] L; simpl in *; try discriminate. { exists 0%Z. split; [lra|lia]. }
  destruct (IH f ltac:(lia)) as (n & Eq & K). rewrite Eq. destruct H0 as [Q|Q]; rewrite Q.
  - exists n. rewrite plus_IZR. split; [lra|]. intros F. inversion F as [|? ? F1 F2]; subst. specialize (K F2). lia.
  - exists (n + c)%Z. rewrite !plus_IZR. split; [lra|]. intros F. inversion F as [|? ? F1 F2]; subst. specialize (K F2). lia.
Qed.
Lemma lin_ok st y cl x n c0 m vs v : sat st vs -> nthz y (cols st) = Some cl -> nthz y vs = Some v -> dom v -> (0 <= x)%Z ->
  not_above (upper en cl (zeros W) (unit_at n x (zeros W)) c0 m) = true -> IZR n * entry x v * d * d + IZR c0 * d * d * d <= 0.
Proof.
  intros S C Hv Dm X U. destruct (Forall2_nthz _ _ _ S _ _ C) as (v' & Hv' & Sc). rewrite Hv in Hv'. apply Some_inj in Hv'. subst v'.
  pose proof (dlen v Dm) as Lv.
  apply (not_above_ok cl _ _ _ m v (zeros_nonneg W)) in U; auto; [|rewrite len_zeros; auto|unfold unit_at; rewrite len_updz, len_zeros; auto].
  rewrite zphi_zeros, dot_unit, dot_zeros in U; auto; [lra|rewrite len_zeros; auto].
Qed.
(* H: a chain of matches gives a result; what does not is left out. Of an entry that is found: its column v, and what is known of it. *)
Ltac open H := repeat match type of H with match ?x with _ => _ end = Some _ => destruct x eqn:?; try discriminate H end.
Ltac found v := match goal with Dv : Forall dom _, Sv : sat _ _, Q : ent_at _ _ _ = Some _ |- _ =>
  destruct (ent_at_ok _ _ _ _ _ Dv Sv Q) as (v & Hv & Dm & O & X & Hx); clear Q end;
  match goal with P : phi_up _ _ = Some _ |- _ => apply phi_up_ok in P; destruct P as [P0 C0] | _ => idtac end.
Lemma step_ok tok st l : step en tok st = Some l -> Forall good l -> good st.
Proof.
  intros H G Lo vs Dv Sv. pose proof d_pos as dp. pose proof DR_pos as DP.
  assert (Two : forall a b, Some [a; b] = Some l -> good a /\ good b). { intros a b Q. apply Some_inj in Q. subst l. inversion G as [|? ? G1 G']; inversion G'; auto. }
  assert (One : forall a, Some [a] = Some l -> good a). { intros a Q. apply Some_inj in Q. subst l. inversion G; auto. }
  destruct tok as [y x c|x|i n|y e|y e|y x c m|y x c m|ts m|A ls parts|y x]; cbn [step] in H.
  - (* Split *) open H. found v. destruct (Two _ _ H) as [G1 G2]. destruct (Rle_dec (entry x v) (vd c)).
    + apply (G1 Lo vs Dv). eapply sat_high; eauto.
    + apply (G2 Lo vs Dv). eapply sat_low; eauto. lra.
  - (* Fix *) destruct (corner en) as [[g p]|] eqn:C; [|discriminate]. open H. found v. destruct (Two _ _ H) as [G1 G2]. destruct (corner0 OK g p C) as [Hg Pg].
    pose proof (dcorner v Dm g p C) as Cv. rewrite Forall_forall in Cv. destruct (Cv _ (nthz_in _ _ _ Hx)) as [Y|Y].
    + apply (G2 Lo vs Dv). eapply sat_ent; eauto. intros _ _ _. rewrite Y. repeat split; simpl; auto; rewrite ?vdD in *; lra.
    + apply (G1 Lo vs Dv). eapply sat_ent; eauto. intros _ _ _. rewrite Y. repeat split; simpl; auto; try lia; lra.
  - (* Form *) destruct (corner en) as [[g p]|] eqn:C; [|discriminate]. destruct (nthz i (forms en)) as [f|] eqn:Q; [|discriminate].
    destruct (Two _ _ H) as [G1 G2]. destruct (corner0 OK g p C) as [Hg _]. apply vd_mono in Hg. rewrite vdD in Hg.
    assert (Lf : length f = length W). { pose proof (forms0 OK) as F. rewrite Forall_forall in F. apply F. eapply nthz_in; eauto. }
    assert (Ed : forall m, vd (zsum f * D + (g - D) * m) = IZR (zsum f) + (vd g - 1) * IZR m).
    { intros m. rewrite <- vdD. unfold vd. rewrite plus_IZR, !mult_IZR, minus_IZR. fold DR.
      replace ((IZR (zsum f) * DR + (IZR g - DR) * IZR m) * d) with (IZR (zsum f) * (DR * d) + (IZR g * d - DR * d) * IZR m) by ring.
      rewrite DRd. ring. }
    destruct (cols st) as [|c0 cs] eqn:CS.
    { apply (G1 Lo vs Dv). unfold sat, with_col. simpl. rewrite CS. unfold sat in Sv. rewrite CS in Sv. exact Sv. }
    unfold sat in Sv. rewrite CS in Sv. inversion Sv as [|? v ? vs' Sc Sv']; subst. assert (Dm : dom v) by (inversion Dv; auto).
    destruct (count_high (vd g) v (dcorner v Dm g p C) f ltac:(rewrite (dlen v Dm); auto)) as (N & En & _).
    assert (K : forall F, (forall a b, vd a <= dot f v <= vd b -> vd (fst (F (a, b))) <= dot f v <= vd (snd (F (a, b)))) ->
      sat (with_col 0 (set_lims i F) st) (v :: vs')).
    { intros F HF. unfold sat, with_col. simpl. rewrite CS. simpl. constructor; auto. destruct Sc as [S1 S2]. split; auto. simpl. eapply slim_upd; eauto. }
    destruct (Z.le_gt_cases N n) as [M|M].
    + apply (G1 Lo _ Dv), K. intros a b [A B]. cbn [fst snd]. rewrite Ed, En in *. apply IZR_le in M. nra.
    + apply (G2 Lo _ Dv), K. intros a b [A B]. cbn [fst snd]. rewrite Ed, En in *. assert (M' : (n + 1 <= N)%Z) by lia. apply IZR_le in M'. nra.
  - (* EdgeUp *) destruct (edge_at (edges en) e) as [[[[x z] g] h]|] eqn:R0; [|discriminate]. destruct (ent_at st y x); [|discriminate].
    destruct (ent_at st y z) as [ez|] eqn:Q; [|discriminate]. destruct (high ez) as [[c pc]|] eqn:Hz; [|discriminate]. open H. found v.
    apply (One _ H Lo vs Dv). eapply sat_high; eauto. destruct O as (_ & _ & _ & O). rewrite Hz in O. destruct O as [O _].
    destruct (dedges v Dm _ _ _ _ _ R0) as (_ & _ & Gg & Hh & K). unfold vd, ceil in *. pose proof (Z.mul_succ_div_gt (g * c) h Hh) as U.
    apply Z.lt_le_incl, IZR_le in U. rewrite !mult_IZR in U. unfold Z.succ in U. apply IZR_lt in Hh. apply IZR_le in Gg. apply Rmult_le_reg_l with (IZR h); auto.
    apply Rmult_le_compat_l with (r := IZR g) in O; auto. apply Rmult_le_compat_r with (r := d) in U; lra.
  - (* EdgeLow *) destruct (edge_at (edges en) e) as [[[[x z] g] h]|] eqn:R0; [|discriminate]. destruct (ent_at st y x) as [ex|] eqn:Q; [|discriminate].
    destruct (ent_at st y z); [|discriminate]. destruct (Z.ltb_spec 0 g) as [Gg|]; [|discriminate]. open H. found v.
    apply (One _ H Lo vs Dv). eapply sat_low; eauto. destruct O as (_ & O & _). destruct (dedges v Dm _ _ _ _ _ R0) as (_ & _ & _ & Hh & K).
    unfold vd in *. pose proof (Z.mul_div_le (low ex * h) g Gg) as U. apply IZR_le in U. rewrite !mult_IZR in U. apply IZR_lt in Hh, Gg.
    apply Rmult_le_reg_l with (IZR g); auto. apply Rmult_le_compat_l with (r := IZR h) in O; [|lra]. apply Rmult_le_compat_r with (r := d) in U; lra.
  - (* Up *) destruct (nthz y (cols st)) as [cl|] eqn:C; [|discriminate]. open H. found v. apply (One _ H Lo vs Dv). eapply sat_high; eauto.
    pose proof (lin_ok _ _ _ _ _ _ _ _ _ Sv C Hv Dm X Heqb) as K. rewrite opp_IZR, !mult_IZR in K. fold DR in K. rewrite Dd2 in K.
    replace (- (IZR c * DR * DR) * d * d * d) with (- vd c * (DR * d) * (DR * d)) in K by (unfold vd; ring). rewrite DRd in K. lra.
  - (* Low *) destruct (nthz y (cols st)) as [cl|] eqn:C; [|discriminate]. open H. found v. apply (One _ H Lo vs Dv). eapply sat_low; eauto.
    pose proof (lin_ok _ _ _ _ _ _ _ _ _ Sv C Hv Dm X Heqb) as K. rewrite opp_IZR, !mult_IZR in K. fold DR in K.
    replace (- (DR * DR) * entry x v * d * d) with (- (DR * DR * entry x v * d * d)) in K by ring. rewrite Dd2 in K.
    replace (IZR c * DR * DR * d * d * d) with (vd c * (DR * d) * (DR * d)) in K by (unfold vd; ring). rewrite DRd in K. lra.
  - (* Leaf *) destruct (sheets en) eqn:S; [discriminate|]. unfold sat in Sv. destruct (cols st) as [|c [|]] eqn:C; try discriminate.
    destruct (leaf en (own st) c ts m) eqn:F; [|discriminate]. inversion Sv as [|? v ? vs' Sc Sv']; subst. inversion Sv'; subst.
    unfold goal. rewrite S. eapply leaf_ok; eauto. inversion Dv; auto.
  - (* Sheet *) destruct (sheets en) eqn:S; [|discriminate]. simpl in H. destruct (add_rows (zlen W) 1 (couplings en) ls Tip 0) as [[t b]|] eqn:R0; [|discriminate].
    destruct (alike A W && pays (claim en) E (zsum A + b) && sheet en (zlen W) 0 A t (cols st) parts)%bool eqn:F; [|discriminate]. split_and F.
    apply alike_len in F. unfold goal. rewrite S. exists A, ls, t, b. repeat split; auto. eapply sheet_ok; eauto.
  - (* Closed *) destruct (ent_at st y x) as [e|] eqn:Q; [|discriminate]. destruct (high e) as [[h p]|] eqn:Hh; [|discriminate].
    destruct (Z.ltb_spec h (low e)) as [B|]; [|discriminate]. found v. destruct O as (_ & O1 & _ & O2). rewrite Hh in O2. destruct O2 as [O2 _].
    exfalso. apply IZR_lt in B. unfold vd in *. nra.
Qed.
Lemma run_ok : forall toks stack, run en toks stack = true -> Forall good stack.
Proof.
  induction toks as [|tok toks]; intros [|st stack] H; simpl in H; try discriminate; auto.
  destruct (step en tok st) as [l|] eqn:Q; [|discriminate]. apply IHtoks in H. apply Forall_app in H. destruct H.
  constructor; auto. eapply step_ok; eauto.
Qed.
End Rules.
