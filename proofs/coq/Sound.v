(* The theorem about bounds: no mechanism of the problem is worth more than the claim. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules.
Import ListNotations.
Open Scope R_scope.

(* ---- ratios and edges ---- *)
Lemma div_le a b c e : 0 < b -> 0 < e -> a * e <= c * b -> a / b <= c / e.
Proof.
  intros Hb He H. apply (Rmult_le_reg_r (b * e)); [nra|].
  replace (a / b * (b * e)) with (a * e) by (field; lra). replace (c / e * (b * e)) with (c * b) by (field; lra). lra.
Qed.
Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H| ->]; [left; now apply exp_increasing|right; auto]. Qed.
Lemma at_least_ok r g h : at_least r g h = true -> (0 <= g)%Z /\ (0 < h)%Z /\ ratioR r <= IZR g / IZR h.
Proof.
  unfold at_least. intros H. split_and H. apply Z.ltb_lt in H. apply Z.leb_le in H1. split; auto. split; auto. pose proof DR_pos as DP.
  pose proof H as h0. apply IZR_lt in h0. destruct r as [a b|a b]; simpl; split_and H0; apply Z.ltb_lt, IZR_lt in H0.
  - destruct (log_below g h) as [l|] eqn:L; [|discriminate]. apply log_ok in L. destruct L as (G0 & _ & L). apply IZR_lt in G0.
    rewrite <- (exp_ln (IZR g / IZR h)) by (now apply Rdiv_lt_0_compat).
    apply Z.leb_le, IZR_le in H2. rewrite !mult_IZR in H2. apply exp_le. eapply Rle_trans; [|exact L]. fold DR in H2. apply div_le; auto; lra.
  - apply Z.leb_le, IZR_le in H2. rewrite !mult_IZR in H2. apply div_le; auto; lra.
Qed.
Lemma at_most_ok r g h : at_most r g h = true -> (0 <= g)%Z /\ (0 < h)%Z /\ IZR g / IZR h <= ratioR r.
Proof.
  unfold at_most. intros H. split_and H. apply Z.ltb_lt in H. apply Z.leb_le in H1. split; auto. split; auto. pose proof DR_pos as DP.
  pose proof H as h0. apply IZR_lt in h0. destruct r as [a b|a b]; simpl; split_and H0; apply Z.ltb_lt, IZR_lt in H0.
  - destruct (log_above g h) as [l|] eqn:L; [|discriminate]. apply log_ok in L. destruct L as (G0 & _ & L). apply IZR_lt in G0.
    rewrite <- (exp_ln (IZR g / IZR h)) by (now apply Rdiv_lt_0_compat).
    apply Z.leb_le, IZR_le in H2. rewrite !mult_IZR in H2. apply exp_le. eapply Rle_trans; [exact L|]. fold DR in H2. apply div_le; auto; lra.
  - apply Z.leb_le, IZR_le in H2. rewrite !mult_IZR in H2. apply div_le; auto; lra.
Qed.
Lemma join_in ok k : forall es gs l, join ok k es gs = Some l -> forall x z g h, In (x, z, g, h) l ->
  exists r, In (x, z, r) es /\ ok r g h = true /\ (0 <= x < k)%Z /\ (0 <= z < k)%Z.
Proof.
  induction es as [|[[a b] r] es]; intros [|[g0 h0] gs] l H x z g h I; simpl in H; try discriminate. { apply Some_inj in H. subst. destruct I. }
  destruct (ok r g0 h0 && (0 <=? a)%Z && (a <? k)%Z && (0 <=? b)%Z && (b <? k)%Z)%bool eqn:Q; [|discriminate].
  destruct (join ok k es gs) as [l'|] eqn:J; [|discriminate]. apply Some_inj in H. subst l. destruct I as [I|I].
  - injection I as -> -> -> ->. split_and Q. apply Z.leb_le in Q3, Q1. apply Z.ltb_lt in Q0, Q2. exists r. repeat split; auto. now left.
  - destruct (IHes _ _ J _ _ _ _ I) as (r' & A & B). exists r'. split; auto. now right.
Qed.
Lemma entry_nonneg q x : Forall (Rle 0) q -> 0 <= entry x q.
Proof. intros H. unfold entry. revert H. generalize (Z.to_nat x). induction q; intros [|n] H; simpl; try lra; inversion H; auto. Qed.
Lemma edges_of_ok c gs es q : edges_of (Z.of_nat (length q)) c gs = Some es -> Forall (Rle 0) q -> in_cone (length q) c q -> edges_hold es q.
Proof.
  intros H N I e x z g h Q. pose proof (entry_nonneg q z N) as Nz. assert (K : forall r, at_least r g h = true -> entry x q <= ratioR r * entry z q ->
    (0 <= g)%Z /\ (0 < h)%Z /\ IZR h * entry x q <= IZR g * entry z q).
  { intros r A B. apply at_least_ok in A. destruct A as (A1 & A2 & A3). repeat split; auto. apply IZR_lt in A2.
    apply Rmult_le_compat_r with (r := entry z q) in A3; auto. apply Rmult_le_compat_l with (r := IZR h) in B; [|lra].
    apply Rmult_le_compat_l with (r := IZR h) in A3; [|lra]. replace (IZR h * (IZR g / IZR h * entry z q)) with (IZR g * entry z q) in A3 by (field; lra). lra. }
  destruct c as [|r|es'|]; simpl in H; [| | |destruct gs; [|discriminate]; apply Some_inj in H; subst; discriminate].
  - destruct gs; [|discriminate]. apply Some_inj in H. subst. discriminate.
  - destruct gs as [|[g0 h0] [|]]; try discriminate. destruct (at_least r g0 h0) eqn:A; [|discriminate]. apply Some_inj in H. subst es. simpl in Q.
    set (k := Z.of_nat (length q)) in *. destruct ((0 <? k) && (0 <=? e / k) && (e / k <? k) && negb (e / k =? e mod k))%Z%bool eqn:B; [|discriminate].
    apply Some_inj in Q. injection Q as <- <- -> ->. split_and B. apply Z.ltb_lt in B, B1. apply Z.leb_le in B2. apply negb_true_iff, Z.eqb_neq in B0.
    pose proof (Z.mod_pos_bound e k B) as M. split; auto. split; [lia|]. apply (K r A). unfold entry. apply I; unfold k in *; lia.
  - destruct (join at_least (Z.of_nat (length q)) es' gs) as [l|] eqn:J; [|discriminate]. apply Some_inj in H. subst es. simpl in Q.
    rewrite find_number, find_tip in Q by lia. destruct (nthz (e - 0) l) as [a|] eqn:Z0; [|discriminate]. apply Some_inj in Q. subst a.
    apply nthz_in in Z0. destruct (join_in _ _ _ _ _ J _ _ _ _ Z0) as (r & A & B & X & Y). split; [lia|]. split; [lia|]. apply (K r B). apply (I _ _ _ A).
Qed.

(* ---- scaling and adding columns ---- *)
Definition scale c (v : list R) := map (Rmult c) v.
Lemma len_scaleR c v : length (scale c v) = length v. Proof. apply map_length. Qed.
Lemma dotR_scale c : forall V v, dot V (scale c v) = c * dot V v.
Proof. induction V; destruct v; simpl; try lra. rewrite IHV. lra. Qed.
Lemma entry_scale c v x : entry x (scale c v) = c * entry x v.
Proof. unfold entry. generalize (Z.to_nat x). induction v; intros [|n]; simpl; auto; lra. Qed.
Lemma nth_scale c v j : nth j (scale c v) 0 = c * nth j v 0.
Proof. revert j. induction v; intros [|n]; simpl; auto; lra. Qed.
Lemma scale_pos c v : 0 <= c -> Forall (Rle 0) v -> Forall (Rle 0) (scale c v).
Proof. intros Hc H. apply Forall_map. eapply Forall_impl; [|exact H]. simpl; intros. nra. Qed.
Lemma edges_scale es c v : 0 <= c -> edges_hold es v -> edges_hold es (scale c v).
Proof.
  intros Hc H e x z g h Q. destruct (H _ _ _ _ _ Q) as (A & B & C & F & K). repeat split; auto. rewrite !entry_scale.
  apply Rmult_le_compat_l with (r := c) in K; auto. lra.
Qed.
Lemma halfs_scale hs c v : 0 <= c -> Forall (fun b => dot b v <= 0) hs -> Forall (fun b => dot b (scale c v) <= 0) hs.
Proof. intros Hc H. eapply Forall_impl; [|exact H]. simpl. intros b K. rewrite dotR_scale. nra. Qed.
Lemma cancel c y a t : c <> 0 -> c * y / (c * a / t) = y / (a / t).
Proof. intros H. unfold Rdiv. rewrite !Rinv_mult. replace (c * y * (/ c * / a * / / t)) with (c * / c * (y * (/ a * / / t))) by ring. rewrite Rinv_r; auto. ring. Qed.
Lemma relative_scale c a t : 0 < c -> forall V v, relative V (c * a / t) (scale c v) = c * relative V (a / t) v.
Proof. intros Hc. induction V; destruct v; simpl; try lra. rewrite IHV, cancel by lra. ring. Qed.
Lemma squares_scale c : forall V v, squares V (scale c v) = c * c * squares V v.
Proof. induction V; destruct v; simpl; try lra. rewrite IHV. ring. Qed.
Lemma len_plus : forall a b, length a = length b -> length (plus a b) = length a.
Proof. induction a; destruct b; simpl; intros; try discriminate; auto. Qed.
Lemma dot_plus : forall V a b, length a = length b -> dot V (plus a b) = dot V a + dot V b.
Proof. induction V as [|c V IH]; intros [|y a] [|z b] L; simpl in *; try discriminate; try lra. rewrite IH by lia. lra. Qed.
Lemma entry_plus x : forall a b, length a = length b -> entry x (plus a b) = entry x a + entry x b.
Proof. unfold entry. generalize (Z.to_nat x). intros n a. revert n. induction a; destruct b; simpl; intros; try discriminate; destruct n; auto; lra. Qed.
Lemma plus_pos : forall a b, Forall (Rle 0) a -> Forall (Rle 0) b -> Forall (Rle 0) (plus a b).
Proof. induction a; destruct b; simpl; intros A B; auto. inversion A; inversion B; subst. constructor; auto; lra. Qed.
(* What has no weight adds nothing to what another column gains. *)
Lemma plus_nothing : forall G q s, Forall (Z.le 0) G -> Forall (Rle 0) q -> length q = length s -> dot G q <= 0 ->
  (forall w, relative G w (plus q s) = relative G w s) /\ squares G (plus q s) = squares G s /\ dot G (plus q s) = dot G s.
Proof.
  induction G as [|g G]; destruct q as [|y q], s as [|z s]; simpl; intros H1 H2 L Z0; try discriminate; auto.
  inversion H1 as [|? ? A B]; inversion H2 as [|? ? C F]; subst. apply IZR_le in A. pose proof (dot_pos G q B F).
  destruct (IHG q s B F ltac:(lia) ltac:(nra)) as (K1 & K2 & K3).
  assert (Q : IZR g = 0 \/ y = 0) by (apply Rmult_integral; nra).
  destruct Q as [-> | ->]; repeat split; intros; rewrite ?K1, ?K2, ?K3, ?Rplus_0_l; lra.
Qed.
Lemma vanish a b : (forall e, 0 < e -> a + e * b <= 0) -> a <= 0.
Proof.
  intros H. destruct (Rle_dec a 0) as [|N]; auto. exfalso. destruct (Rle_dec 0 b) as [B|B]. { pose proof (H 1 ltac:(lra)). lra. }
  specialize (H (a / (2 * - b)) ltac:(apply Rdiv_lt_0_compat; lra)). replace (a / (2 * - b) * b) with (- (a / 2)) in H by (field; lra). lra.
Qed.

(* ---- sums over the columns ---- *)
Lemma dot_0 : forall a k, dot a (repeat 0 k) = 0.
Proof. induction a; destruct k; simpl; auto. rewrite IHa. lra. Qed.
Lemma dot_1 : forall a, dot a (repeat 1 (length a)) = IZR (zsum a).
Proof. induction a; simpl; auto. rewrite IHa, plus_IZR. lra. Qed.
Lemma total_colsum a k : forall Q, Forall (fun q => length q = k) Q -> total (dot a) Q = dot a (colsum k Q) /\ length (colsum k Q) = k.
Proof.
  induction Q; simpl; intros H. { rewrite dot_0, repeat_length. auto. } inversion H; subst. destruct (IHQ H3) as [I J].
  rewrite I, dot_plus, len_plus; auto; lia.
Qed.
Lemma total_le {A} (f g : A -> R) : forall l, (forall a, In a l -> f a <= g a) -> total f l <= total g l.
Proof. induction l; simpl; intros H; [lra|]. pose proof (H a (or_introl eq_refl)). pose proof (IHl (fun b I => H b (or_intror I))). lra. Qed.
Lemma total_mult {A} (f : A -> R) c : forall l, total (fun a => c * f a) l = c * total f l.
Proof. induction l; simpl; [lra|]. rewrite IHl. lra. Qed.
Lemma sum_prices pb Q A : mechanism pb Q -> length A = length (weights pb) -> total (dot A) Q = IZR (zsum A).
Proof.
  intros (H & S & _) L. assert (LQ : Forall (fun q => length q = length (weights pb)) Q) by (eapply Forall_impl; [|exact H]; intros q K; apply K).
  destruct (total_colsum A _ Q LQ) as [-> _]. rewrite S, <- L. apply dot_1.
Qed.
Lemma add_terms_ok k c m Q : Forall (fun q => Z.of_nat (length q) = k) Q -> forall ts t, forallb (term_ok k m) ts = true ->
  mdot k 0 (add_terms k c ts t) Q = mdot k 0 t Q + IZR c * form ts Q.
Proof.
  intros LQ. unfold form. induction ts as [|[[x y] a] ts]; simpl; intros t H; [lra|]. split_and H. split_and H.
  apply Z.leb_le in H, H2. apply Z.ltb_lt in H3. rewrite IHts, mdot_bump by (auto; lia). destruct (Z.leb_spec 0 y); [|lia].
  rewrite Z.sub_0_r, mult_IZR. lra.
Qed.
Lemma add_rows_ok k c m Q : Forall (fun q => Z.of_nat (length q) = k) Q -> (0 <= c)%Z -> forall rs ls t b t' b',
  forallb (fun r => forallb (term_ok k m) (coefficients r)) rs = true -> Forall (holds Q) rs -> add_rows k c rs ls t b = Some (t', b') ->
  mdot k 0 t' Q - mdot k 0 t Q <= IZR c * (IZR b' - IZR b).
Proof.
  intros LQ Hc. apply IZR_le in Hc. induction rs as [|r rs]; intros [|l ls] t b t' b' O H F; simpl in *; try discriminate.
  { apply Some_inj in F. injection F as <- <-. lra. }
  destruct (equal r || (0 <=? l)%Z)%bool eqn:S; [|discriminate]. split_and O. inversion H as [|? ? H1 H2]; subst.
  pose proof (IHrs _ _ _ _ _ O0 H2 F) as I. rewrite plus_IZR, mult_IZR in I.
  assert (J : mdot k 0 (if (l =? 0)%Z then t else add_terms k (c * l) (coefficients r) t) Q = mdot k 0 t Q + IZR c * IZR l * form (coefficients r) Q).
  { destruct (Z.eqb_spec l 0) as [->|N]; [lra|]. rewrite (add_terms_ok k _ m) by auto. rewrite mult_IZR. lra. }
  rewrite J in I. unfold holds in H1. assert (M : IZR l * form (coefficients r) Q <= IZR l * IZR (right r)).
  { destruct (equal r); simpl in S. rewrite H1. lra. apply Z.leb_le, IZR_le in S. now apply Rmult_le_compat_l. }
  apply Rmult_le_compat_l with (r := IZR c) in M; auto. lra.
Qed.
Lemma add_rows_right k c c' : forall rs ls t t' b u u' e e', add_rows k c rs ls t b = Some (u, e) -> add_rows k c' rs ls t' b = Some (u', e') -> e = e'.
Proof.
  induction rs as [|r rs]; intros [|l ls] t t' b u u' e e' A B; simpl in *; try discriminate; [congruence|].
  destruct (equal r || (0 <=? l)%Z)%bool; [|discriminate]. eapply IHrs; eauto.
Qed.
Lemma pays_ok N M E s : (0 < M)%Z -> (0 < E)%Z -> pays (N, M) E s = true -> IZR s / IZR E <= IZR N / IZR M.
Proof.
  unfold pays. simpl. intros HM HE H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H. apply IZR_lt in HM, HE.
  apply (Rmult_le_reg_r (IZR E * IZR M)); [nra|]. replace (IZR s / IZR E * (IZR E * IZR M)) with (IZR s * IZR M) by (field; lra).
  replace (IZR N / IZR M * (IZR E * IZR M)) with (IZR N * IZR E) by (field; lra). lra.
Qed.
Lemma le_ratio a s E : 0 < E -> E * a <= s -> a <= s / E.
Proof. intros HE H. apply (Rmult_le_reg_r E); auto. replace (s / E * E) with s by (field; lra). lra. Qed.

(* ---- well-formed problems ---- *)
Record formed pb : Prop := Formed {
  fW : Forall (Z.le 0) (weights pb); fT : (0 < zsum (weights pb))%Z; fH : Forall (fun c => length c = length (weights pb)) (halfspaces pb);
  fR : forallb (fun r => forallb (term_ok (zlen (weights pb)) (count pb)) (coefficients r)) (rows pb) = true;
  fM : match outputs pb with Some m => (0 < m)%Z | None => rows pb = [] end;
  fO : match objective pb with
    | Linear den cost => (0 < den)%Z /\ outputs pb <> None /\ forallb (term_ok (zlen (weights pb)) (count pb)) cost = true
    | Bayes den gains => (0 < den)%Z /\ gains <> [] /\ Forall (fun g => length g = length (weights pb)) gains
    | Information gs => Forall (fun G => length G = length (weights pb) /\ Forall (Z.le 0) G) gs /\ fold_right zplus (zeros (weights pb)) gs = weights pb
    | ChiSquare => True end }.
Lemma well_formed_ok pb : well_formed pb = true -> formed pb.
Proof.
  unfold well_formed. cbv zeta. intros H. split_and H. apply Z.ltb_lt in H4. constructor; auto.
  - now apply nonneg_all.
  - rewrite forallb_forall in H3. apply Forall_forall. intros c I. apply alike_len. auto.
  - destruct (outputs pb); [now apply Z.ltb_lt in H2|]. destruct (rows pb); auto; discriminate.
  - destruct (objective pb) as [den cost|den gains|gs|]; auto; split_and H0; try (apply Z.ltb_lt in H0).
    + repeat split; auto. destruct (outputs pb); congruence.
    + repeat split; auto. destruct gains; congruence. rewrite forallb_forall in H5. apply Forall_forall. intros g I. apply alike_len; auto.
    + split. * rewrite forallb_forall in H0. apply Forall_forall. intros G I. specialize (H0 G I). split_and H0. split. now apply alike_len. now apply nonneg_all.
      * now apply same_eq.
Qed.

(* ---- a column of a complete cone, scaled into a box ---- *)
Lemma least : forall q : list R, q <> [] -> exists i, (i < length q)%nat /\ forall j, (j < length q)%nat -> nth i q 0 <= nth j q 0.
Proof.
  induction q as [|y q]; [congruence|]. intros _. destruct q as [|y' q]. { exists O. split; [simpl; lia|]. intros [|j] J; simpl in *; [lra|lia]. }
  destruct IHq as (i & I & K); [discriminate|]. destruct (Rle_dec y (nth i (y' :: q) 0)) as [r|r].
  - exists O. split; [simpl; lia|]. intros [|j] J; [simpl; lra|]. eapply Rle_trans; [exact r|]. apply (K j). simpl in *; lia.
  - exists (S i). split; [simpl in *; lia|]. intros [|j] J. simpl in r |- *. lra. apply (K j). simpl in *; lia.
Qed.
Lemma all_nth (Pr : R -> Prop) : forall q, (forall j, (j < length q)%nat -> Pr (nth j q 0)) -> Forall Pr q.
Proof. induction q; intros H; constructor. apply (H O). simpl; lia. apply IHq. intros j J. apply (H (S j)). simpl; lia. Qed.
Lemma complete_box r g h q : at_least r g h = true -> (h <= g)%Z -> Forall (Rle 0) q -> in_cone (length q) (Complete r) q ->
  Forall (eq 0) q \/ exists s, 0 < s /\ Forall (fun y => vd h <= y <= vd g) (scale s q).
Proof.
  intros A Hg N I. destruct q as [|y0 q0]; [left; constructor|]. set (q := y0 :: q0) in *.
  destruct (least q ltac:(discriminate)) as (i & Li & Mi). set (m := nth i q 0) in *.
  apply at_least_ok in A. destruct A as (_ & Hh & A). pose proof d_pos as dp. apply IZR_lt in Hh. apply vd_mono in Hg.
  assert (M0 : 0 <= m). { rewrite Forall_forall in N. apply N. unfold m. now apply nth_In. }
  assert (U : forall j, (j < length q)%nat -> IZR h * nth j q 0 <= IZR g * m).
  { intros j J. destruct (Nat.eq_dec j i) as [->|Q].
    - fold m. apply Rmult_le_compat_r with (r := m) in Hg; auto. unfold vd in Hg. nra.
    - pose proof (I j i J Li Q) as K. fold m in K. apply Rmult_le_compat_r with (r := m) in A; auto.
      apply Rmult_le_compat_l with (r := IZR h) in A; [|lra]. apply Rmult_le_compat_l with (r := IZR h) in K; [|lra].
      replace (IZR h * (IZR g / IZR h * m)) with (IZR g * m) in A by (field; lra). lra. }
  destruct M0 as [M0|M0].
  - right. exists (vd h / m). assert (V : 0 < vd h) by (unfold vd; nra). split; [now apply Rdiv_lt_0_compat|].
    apply all_nth. rewrite len_scaleR. intros j J. rewrite nth_scale. specialize (U j J). specialize (Mi j J). fold m in Mi.
    assert (Sm : vd h / m * m = vd h) by (field; lra). assert (0 < vd h / m) by (now apply Rdiv_lt_0_compat). split; [nra|].
    apply (Rmult_le_reg_r m); auto. replace (vd h / m * nth j q 0 * m) with (vd h * nth j q 0) by (field; lra). unfold vd. nra.
  - left. apply all_nth. intros j J. specialize (U j J). specialize (Mi j J). fold m in Mi. rewrite <- M0 in U. nra.
Qed.
Lemma zero_all q : Forall (eq 0) q -> forall G, dot G q = 0.
Proof. induction 1; destruct G; simpl; auto. rewrite IHForall. subst. lra. Qed.
Lemma zero_tdot q : Forall (eq 0) q -> forall t i, tdot i t q = 0.
Proof. induction 1; simpl; intros; auto. rewrite IHForall. subst. lra. Qed.
Lemma zero_entries : forall V q, Forall (Z.lt 0) V -> Forall (Rle 0) q -> length q = length V -> dot V q <= 0 -> Forall (eq 0) q.
Proof.
  induction V; destruct q; simpl; intros H1 H2 L Z0; try discriminate; [constructor|]. inversion H1 as [|? ? A1 A2]; inversion H2 as [|? ? B1 B2]; subst. apply IZR_lt in A1.
  pose proof (dot_pos V q ltac:(eapply Forall_impl; [|exact A2]; simpl; lia) B2). constructor. nra. apply IHV; auto. nra.
Qed.

Section Bound.
Variables (pb : problem) (cl : Z * Z) (hd : header).
Notation W := (weights pb).
Notation T := (zsum W).
Notation E := (eunit hd).
Notation A := (prices hd).
Hypothesis FM : formed pb.
Hypothesis HE : (0 < E)%Z.
Variable es : table.
Hypothesis ES : edges_of (zlen W) (base pb) (pairs hd) = Some es.
Lemma column_edges q : column pb q -> edges_hold es q.
Proof. intros (L & N & I & _). rewrite zlen_len, <- L in ES. rewrite <- L in I. eapply edges_of_ok; eauto. Qed.
Definition kind_of := match objective pb with Information _ => Entropic | ChiSquare => Square | _ => Plain end.
Definition groups_of := match objective pb with Information gs => gs | _ => [] end.
Definition earned q := match kind_of with Plain => 0 | Entropic => information groups_of q | Square => chi_square W q end.
Lemma groups_ok : kind_of = Entropic -> Forall (fun G => length G = length W /\ Forall (Z.le 0) G) groups_of /\ fold_right zplus (zeros W) groups_of = W.
Proof. unfold kind_of, groups_of. pose proof (fO pb FM) as O. destruct (objective pb); try discriminate. auto. Qed.
Lemma earned_scale c q : 0 < c -> earned (scale c q) = c * earned q.
Proof.
  intros Hc. unfold earned. destruct kind_of; [lra| |].
  - unfold information. rewrite <- total_mult. induction groups_of as [|G gs]; simpl; auto. rewrite dotR_scale, relative_scale, IHgs; auto.
  - unfold chi_square. rewrite squares_scale, dotR_scale. set (a := dot W q). set (s := squares W q). replace (c * c * s) with (c * (c * s)) by ring.
    rewrite (cancel c (c * s) a (IZR T)) by lra. unfold Rdiv. ring.
Qed.
Lemma groups_zero q : Forall (Rle 0) q -> kind_of = Entropic -> dot W q <= 0 -> Forall (fun G => dot G q <= 0) groups_of.
Proof.
  intros N K Z0. destruct (groups_ok K) as [G1 G2]. destruct (fold_groups W groups_of) as (_ & _ & F). { eapply Forall_impl; [|exact G1]. simpl. tauto. }
  specialize (F q). rewrite G2 in F. rewrite F in Z0. clear F G2. induction G1 as [|G gs [_ P0] G1 IH]; constructor; simpl in Z0.
  - assert (0 <= total (fun G => dot G q) gs). { clear - G1 N. induction G1 as [|G gs [_ P] G1 IH]; simpl; [lra|]. pose proof (dot_pos G q P N). lra. } lra.
  - apply IH. pose proof (dot_pos G q P0 N). lra.
Qed.
Lemma earned_zero q : Forall (Rle 0) q -> dot W q <= 0 -> earned q = 0.
Proof.
  intros N Z0. unfold earned. destruct kind_of eqn:K; auto.
  - pose proof (groups_zero q N K Z0) as Gz. destruct (groups_ok K) as [G1 _]. unfold information. induction G1 as [|G gs [_ P0] G1 IH]; simpl; auto.
    inversion Gz as [|? ? A0 B0]; subst. destruct (zero_dot G q P0 N A0) as (R0 & _). rewrite R0, IH by auto. lra.
  - unfold chi_square. destruct (zero_dot W q (fW pb FM) N Z0) as (_ & _ & S0 & D0). rewrite S0, D0. unfold Rdiv. ring.
Qed.
Lemma earned_plus q s : Forall (Rle 0) q -> length q = length s -> dot W q <= 0 -> earned (plus q s) = earned s.
Proof.
  intros N L Z0. unfold earned. destruct kind_of eqn:K; auto.
  - pose proof (groups_zero q N K Z0) as Gz. destruct (groups_ok K) as [G1 _]. unfold information. induction G1 as [|G gs [_ P0] G1 IH]; simpl; auto.
    inversion Gz as [|? ? A0 B0]; subst. destruct (plus_nothing G q s P0 N L A0) as (R0 & _ & D0). rewrite D0, R0, IH by auto. lra.
  - unfold chi_square. destruct (plus_nothing W q s (fW pb FM) N L Z0) as (_ & S0 & D0). rewrite S0, D0. auto.
Qed.

(* An environment that [start] makes satisfies what the rules need. *)
Lemma make_env en : wts en = W -> unit_ en = E -> total_ en = T -> groups en = groups_of -> (knd en = Plain \/ knd en = kind_of) ->
  Forall (fun f => length f = length W) (forms en) -> (forall G p, corner en = Some (G, p) -> (D <= G)%Z /\ phi (knd en) (vd G) <= IZR p * d * d) ->
  (halfs en = halfspaces pb \/ halfs en = []) -> env_ok en.
Proof.
  intros Ew Eu Et Eg Ek Ef Ec Eh. constructor; rewrite ?Ew, ?Eu, ?Et, ?Eg; auto; try apply FM.
  - intros K. destruct Ek as [Ek|Ek]; rewrite Ek in K; [discriminate|]. now apply groups_ok.
  - destruct Eh as [-> | ->]; [apply FM|constructor].
Qed.
Lemma env_gain en v : wts en = W -> groups en = groups_of -> knd en = kind_of -> gain en v = earned v.
Proof. intros A0 B C. unfold gain, earned. rewrite A0, B, C. auto. Qed.
Lemma roots_ok kd : forall V b v S, (0 <= S)%Z -> Forall (Z.le 0) V -> length v = length V -> Forall (Rle 0) v -> dot V v <= IZR S -> roots kd S V = Some b -> Forall2 (okent kd) b v.
Proof.
  induction V as [|w V]; destruct v as [|y v]; simpl; intros S HS H L N Z0 F; try discriminate. { apply Some_inj in F. subst. constructor. }
  destruct (roots kd S V) as [l|] eqn:R0; [|discriminate]. inversion H as [|? ? A1 A2]; inversion N as [|? ? B1 B2]; subst.
  pose proof (dot_pos V v A2 B2) as P0. pose proof A1 as A3. apply IZR_le in A3.
  assert (I : Forall2 (okent kd) l v) by (apply (IHV l v S); auto; nra). assert (V0 : vd 0 = 0) by (unfold vd; lra).
  assert (Ph : phi kd (vd 0) <= IZR 0 * d * d) by (rewrite V0; destruct kd; simpl; lra).
  destruct (Z.ltb_spec 0 w) as [w0|w0].
  - destruct (phi_up kd (ceil (S * D) w)) as [p|] eqn:Q; [|discriminate]. apply Some_inj in F. subst b. constructor; auto.
    apply phi_up_ok in Q. destruct Q as [Q _]. repeat split; simpl; try lia; auto; rewrite ?V0; auto.
    pose proof (div_upper (S * D) w w0) as U. rewrite mult_IZR in U. fold DR in U. fold (ceil (S * D) w) in U. apply IZR_lt in w0. pose proof d_pos. pose proof DR_pos.
    apply (Rmult_le_reg_l (IZR w)); auto. apply Rle_trans with (IZR S); [nra|].
    apply Rmult_le_compat_r with (r := IZR w * d) in U; [|nra]. replace (IZR S * DR / IZR w * (IZR w * d)) with (IZR S * (DR * d)) in U by (field; lra).
    rewrite DRd in U. unfold vd. lra.
  - apply Some_inj in F. subst b. constructor; auto. repeat split; simpl; try lia; auto; rewrite ?V0; auto.
Qed.
Definition unit_col q := scale (IZR T / dot W q) q.
Lemma unit_col_ok en q b : column pb q -> 0 < dot W q -> roots (knd en) T W = Some b -> wts en = W -> total_ en = T -> edges en = es -> halfs en = halfspaces pb ->
  corner en = None -> forms en = [W] -> dom en (unit_col q) /\ satcol en (Col b [(T * D, T * D)%Z]) (unit_col q).
Proof.
  intros Hq P0 HR Ew Et Ee Eh Ec Ef. pose proof (fT pb FM) as HT. pose proof HT as HT'. apply IZR_lt in HT. pose proof Hq as (L & N & I & H).
  assert (S0 : 0 < IZR T / dot W q) by (apply Rdiv_lt_0_compat; lra). unfold unit_col. set (s := IZR T / dot W q) in *.
  assert (DW : dot W (scale s q) = IZR T) by (rewrite dotR_scale; unfold s; field; lra).
  split.
  - constructor; rewrite ?Ew, ?Et, ?Ee, ?Eh, ?Ec; auto; try discriminate. rewrite len_scaleR; auto. apply scale_pos; auto; lra.
    apply edges_scale; [lra|]. now apply column_edges. apply halfs_scale; auto; lra.
  - split; simpl. { eapply roots_ok; try exact HR; auto. lia. apply FM. rewrite len_scaleR; auto. apply scale_pos; auto; lra. lra. }
    rewrite Ef. simpl. assert (V : vd (T * D) = IZR T). { unfold vd. rewrite mult_IZR. fold DR. rewrite Rmult_assoc, DRd. ring. } rewrite V, DW. repeat split; lra.
Qed.
Lemma owes_unit en own q : wts en = W -> groups en = groups_of -> knd en = kind_of -> unit_ en = E -> 0 < dot W q ->
  owes en own (unit_col q) -> IZR E * earned q <= dot own q.
Proof.
  intros Ew Eg Ek Eu P0 H. unfold owes in H. rewrite (env_gain en _ Ew Eg Ek), Eu in H. pose proof (fT pb FM) as HT. apply IZR_lt in HT.
  assert (S0 : 0 < IZR T / dot W q) by (apply Rdiv_lt_0_compat; lra). unfold unit_col in H. rewrite earned_scale, dotR_scale in H by auto.
  apply (Rmult_le_reg_l (IZR T / dot W q)); auto. lra.
Qed.
Lemma some_weight Q : mechanism pb Q -> exists u, In u Q /\ 0 < dot W u.
Proof.
  intros HQ. pose proof (sum_prices pb Q W HQ eq_refl) as S. pose proof (fT pb FM) as HT. apply IZR_lt in HT. clear HQ. revert S. generalize (IZR T) HT. clear HT.
  induction Q as [|q Q IH]; simpl; intros r HT S; [lra|]. destruct (Rlt_dec 0 (dot W q)) as [P|P]; [exists q; auto|].
  destruct (IH (r - dot W q) ltac:(lra) ltac:(lra)) as (u & A0 & B); eauto.
Qed.
Lemma total_nothing {A} (f : A -> R) : (forall a, f a = 0) -> forall l, total f l = 0. Proof. intros H. induction l; simpl; auto. rewrite H, IHl. lra. Qed.
Lemma column_plus q u e : column pb q -> column pb u -> 0 <= e -> column pb (plus q (scale e u)).
Proof.
  clear HE ES. intros (L & N & I & H) (L' & N' & I' & H') He. assert (LL : length q = length (scale e u)) by (rewrite len_scaleR; lia).
  split. { rewrite len_plus; auto. } split. { apply plus_pos; auto. now apply scale_pos. } split.
  - assert (Nn : forall x, nth x (plus q (scale e u)) 0 = nth x q 0 + e * nth x u 0).
    { intros x. pose proof (entry_plus (Z.of_nat x) q (scale e u) LL) as Q. rewrite entry_scale in Q. unfold entry in Q. rewrite Nat2Z.id in Q. exact Q. }
    destruct (base pb) as [|r|edges|r den low sets]; simpl in *; auto.
    + intros x z X Z0 D0. rewrite !Nn. pose proof (I x z X Z0 D0). pose proof (I' x z X Z0 D0). nra.
    + intros x z r Q. unfold entry in *. rewrite !Nn. pose proof (I x z r Q). pose proof (I' x z r Q). nra.
    + intros s t b1 b2 x z E1 E2 D0 X Z0. pose proof (I s t b1 b2 x z E1 E2 D0 X Z0). pose proof (I' s t b1 b2 x z E1 E2 D0 X Z0). unfold entry in *.
      assert (G : forall b y, given_by den low b (nth y (plus q (scale e u)) 0) (plus q (scale e u)) = given_by den low b (nth y q 0) q + e * given_by den low b (nth y u 0) u).
      { intros b y. unfold given_by, entry.
        assert (S : total (fun x => least_share den low x * nth (Z.to_nat x) (plus q (scale e u)) 0) b = total (fun x => least_share den low x * nth (Z.to_nat x) q 0) b + e * total (fun x => least_share den low x * nth (Z.to_nat x) u 0) b).
        { clear - Nn. induction b as [|x' b IH]; simpl; [lra|]. rewrite IH, Nn. ring. } rewrite S, Nn. ring. }
      rewrite !G. nra.
  - rewrite Forall_forall in *. intros c C. rewrite dot_plus, dotR_scale by auto. specialize (H c C). specialize (H' c C). nra.
Qed.

Lemma worth_earned Q : kind_of <> Plain -> worth pb Q = total earned Q / IZR T.
Proof. unfold worth, earned, kind_of, groups_of. destruct (objective pb); try congruence; reflexivity. Qed.

(* Prices that every column pays bound the sum. *)
Lemma conclude Q b N M : cl = (N, M) -> (0 < M)%Z -> mechanism pb Q -> length A = length W -> 0 <= IZR b -> pays cl E (zsum A + b) = true -> kind_of <> Plain ->
  (forall q, In q Q -> IZR E * earned q <= dot (zscale T A) q) -> worth pb Q <= IZR N / IZR M.
Proof.
  intros C HM HQ LA Hb HP K H. rewrite C in HP. apply pays_ok in HP; auto. eapply Rle_trans; [|exact HP]. pose proof (fT pb FM) as HT. apply IZR_lt in HE, HT.
  assert (S : total earned Q / IZR T <= IZR (zsum A) / IZR E).
  { apply (Rmult_le_reg_r (IZR T * IZR E)); [nra|]. replace (total earned Q / IZR T * (IZR T * IZR E)) with (IZR E * total earned Q) by (field; lra).
    replace (IZR (zsum A) / IZR E * (IZR T * IZR E)) with (IZR T * IZR (zsum A)) by (field; lra).
    rewrite <- (sum_prices pb Q A HQ LA), <- !total_mult. apply total_le. intros q I. specialize (H q I). rewrite dot_scale in H. exact H. }
  rewrite worth_earned by auto. eapply Rle_trans; [exact S|]. rewrite plus_IZR. unfold Rdiv. apply Rmult_le_compat_r; [|lra]. apply Rlt_le, Rinv_0_lt_compat. lra.
Qed.

(* ---- boxes ---- *)
Definition slice_env := Env kind_of E T W groups_of None es (halfspaces pb) [W] (rows pb) cl.
Lemma slice_ok sh : env_ok (slice_env sh).
Proof. apply make_env; simpl; auto. discriminate. Qed.
Lemma box_ok Q b toks : mechanism pb Q -> roots kind_of T W = Some b -> length A = length W ->
  run (slice_env false) toks [State (zscale T A) [Col b [(T * D, T * D)%Z]]] = true -> forall q, In q Q -> IZR E * earned q <= dot (zscale T A) q.
Proof.
  intros HQ HR LA HC. pose proof (run_ok _ (slice_ok false) _ _ HC) as G. inversion G as [|? ? G1 _]; subst.
  assert (K : forall q, column pb q -> 0 < dot W q -> IZR E * earned q <= dot (zscale T A) q).
  { intros q Hq P0. destruct (unit_col_ok (slice_env false) q b Hq P0 HR) as [D1 S1]; auto.
    eapply (owes_unit (slice_env false)); auto. specialize (G1 ltac:(simpl; rewrite len_scale; auto) [unit_col q] ltac:(auto) ltac:(constructor; [exact S1|constructor])). exact G1. }
  intros q I. pose proof HQ as (HQ1 & _). rewrite Forall_forall in HQ1. pose proof (HQ1 q I) as Hq. destruct (Rlt_dec 0 (dot W q)) as [P0|P0]; [auto|].
  destruct (some_weight Q HQ) as (u & Iu & Pu). pose proof (HQ1 u Iu) as Hu. pose proof Hq as (Lq & Nq & _). pose proof Hu as (Lu & Nu & _).
  rewrite (earned_zero q Nq) by lra. rewrite Rmult_0_r. assert (V : - dot (zscale T A) q <= 0); [|lra].
  apply (vanish _ (IZR E * earned u - dot (zscale T A) u)). intros e He.
  assert (LL : length q = length (scale e u)) by (rewrite len_scaleR; lia).
  assert (Pe : 0 < dot W (plus q (scale e u))). { rewrite dot_plus, dotR_scale by auto. pose proof (dot_pos W q (fW pb FM) Nq). nra. }
  pose proof (K _ (column_plus q u e Hq Hu ltac:(lra)) Pe) as F. rewrite earned_plus, earned_scale, dot_plus, dotR_scale in F by (auto; lra). lra.
Qed.

(* ---- whole matrices ---- *)
Lemma sheets_ok Q b m toks : mechanism pb Q -> outputs pb = Some m -> forallb (Z.ltb 0) W = true -> roots kind_of T W = Some b ->
  run (slice_env true) toks [State [] (numbers m (fun _ => Col b [(T * D, T * D)%Z]))] = true ->
  exists B t r ls, length B = length W /\ add_rows (zlen W) 1 (rows pb) ls Tip 0 = Some (t, r) /\ pays cl E (zsum B + r) = true /\
    IZR E * total earned Q <= IZR T * (total (dot B) Q + mdot (zlen W) 0 t Q).
Proof.
  intros HQ Ho HP HR HC. pose proof (run_ok _ (slice_ok true) _ _ HC) as G. inversion G as [|? ? G1 _]; subst. clear G HC.
  destruct (some_weight Q HQ) as (u & Iu & Pu). pose proof HQ as (HQ1 & _ & HM & _). rewrite Ho in HM. rewrite Forall_forall in HQ1.
  set (norm := fun q => if Rlt_dec 0 (dot W q) then unit_col q else unit_col u).
  assert (NQ : forall q, In q Q -> dom (slice_env true) (norm q) /\ satcol (slice_env true) (Col b [(T * D, T * D)%Z]) (norm q)).
  { intros q I. unfold norm. destruct (Rlt_dec 0 (dot W q)) as [P0|P0]; eapply unit_col_ok; eauto. }
  destruct (G1 ltac:(discriminate) (map norm Q)) as (B & ls & t & r & LB & R0 & PB & OW).
  - apply Forall_map, Forall_forall. intros q I. apply NQ; auto.
  - unfold sat. simpl. unfold numbers. rewrite <- HM, Nat2Z.id. clear - NQ. generalize 0%Z. induction Q as [|q Q IH]; simpl; intros i; constructor.
    + apply NQ. now left. + apply IH. intros q' I. apply NQ. now right.
  - exists B, t, r, ls. repeat split; auto. simpl in OW, LB. clear R0 PB G1 HM Ho Iu.
    assert (HQ2 : Forall (column pb) Q) by (apply Forall_forall; auto). clear HQ1 HQ NQ. revert OW. generalize 0%Z.
    induction HQ2 as [|q Q Hq HQ2 IH]; simpl; intros i OW; [lra|]. destruct OW as [O1 O2]. apply IH in O2. pose proof Hq as (Lq & Nq & _).
    assert (F : IZR E * earned q <= IZR T * (dot B q + tdot (i * zlen W) t q)); [|lra].
    unfold norm in O1. destruct (Rlt_dec 0 (dot W q)) as [P0|P0].
    + apply (owes_unit (slice_env true)) in O1; auto. simpl in O1. rewrite dot_scale, dot_merge in O1 by lia. exact O1.
    + assert (Zq : Forall (eq 0) q).
      { apply zero_entries with W; auto. - rewrite forallb_forall in HP. apply Forall_forall. intros w I. apply Z.ltb_lt. auto. - lra. }
      rewrite (earned_zero q Nq) by lra. rewrite (zero_all q Zq). rewrite (zero_tdot q Zq). lra.
Qed.
End Bound.
