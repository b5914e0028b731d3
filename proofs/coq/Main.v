(* Corner and dual proofs, and the theorems about [verify] and [refute]. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound.
Import ListNotations.
Open Scope R_scope.

(* ---- corners ---- *)
(* Along one entry what a column earns lies above a line through each point, where all entries are at least 1. *)
Lemma group_support G l1 l2 y : Forall (Z.le 0) G -> length G = length (l1 ++ y :: l2) -> Forall (Rle 1) l1 -> Forall (Rle 1) l2 -> 1 <= y ->
  exists s, forall u, 1 <= u -> relative G (dot G (l1 ++ y :: l2) / IZR (zsum G)) (l1 ++ y :: l2) + s * (u - y) <= relative G (dot G (l1 ++ u :: l2) / IZR (zsum G)) (l1 ++ u :: l2).
Proof.
  intros HG L H1 H2 Hy. assert (N1 : Forall (Rle 0) l1) by (eapply Forall_impl; [|exact H1]; simpl; intros; lra).
  assert (N2 : Forall (Rle 0) l2) by (eapply Forall_impl; [|exact H2]; simpl; intros; lra).
  assert (N : forall u, 1 <= u -> Forall (Rle 0) (l1 ++ u :: l2)). { intros u Hu. apply Forall_app. split; auto. constructor; auto. lra. }
  destruct (weights_mid Entropic G l1 l2 HG N1 N2) as (c & p & e & Hc & Hp & _ & K). pose proof (zsum_nonneg G HG) as T0. apply IZR_le in T0. destruct T0 as [T0|T0].
  - destruct (entropic_support (IZR (zsum G)) p c y T0 Hp Hc ltac:(lra)) as (s & Q). exists s. intros u Hu. specialize (Q u ltac:(lra)).
    rewrite !relative_split by auto. destruct (K u) as [A B]. destruct (K y) as [A' B']. rewrite A, B, A', B'. lra.
  - exists 0. intros u Hu. assert (Z0 : zsum G = 0%Z) by (apply eq_IZR; auto).
    assert (R0 : forall v w, Forall (Rle 0) v -> relative G w v = 0). { intros v w Nv. destruct (zero_dot G v HG Nv) as (R0 & _); auto. rewrite (zero_sum G v HG Z0). lra. }
    rewrite !R0 by auto. lra.
Qed.
Lemma earned_support pb l1 l2 y : formed pb -> length (l1 ++ y :: l2) = length (weights pb) -> Forall (Rle 1) l1 -> Forall (Rle 1) l2 -> 1 <= y ->
  exists s, forall u, 1 <= u -> earned pb (l1 ++ y :: l2) + s * (u - y) <= earned pb (l1 ++ u :: l2).
Proof.
  intros FM L H1 H2 Hy. unfold earned. destruct (kind_of pb) eqn:K1.
  - exists 0. intros. lra.
  - destruct (groups_ok pb FM K1) as [GO _]. unfold information. induction GO as [|G gs [LG HG] GO IH]. { exists 0. intros. simpl. lra. }
    destruct IH as (s & IH). destruct (group_support G l1 l2 y HG ltac:(lia) H1 H2 Hy) as (s' & S). exists (s' + s). intros u Hu. simpl total. specialize (IH u Hu). specialize (S u Hu). lra.
  - pose proof (fT pb FM) as HT. apply IZR_lt in HT. assert (N1 : Forall (Rle 0) l1) by (eapply Forall_impl; [|exact H1]; simpl; intros; lra).
    assert (N2 : Forall (Rle 0) l2) by (eapply Forall_impl; [|exact H2]; simpl; intros; lra).
    destruct (weights_mid Square (weights pb) l1 l2 (fW pb FM) N1 N2) as (c & p & e & Hc & Hp & He & K). specialize (He eq_refl).
    assert (Pos : forall u, 1 <= u -> 0 < c + p * u).
    { intros u Hu. destruct (K u) as [A _]. rewrite <- A. eapply Rlt_le_trans; [exact HT|]. rewrite <- (Rmult_1_l (IZR _)). apply dot_above; [apply FM|rewrite app_length in *; simpl in *; lia|lra|].
      apply Forall_app. split; auto. }
    destruct (square_support (IZR (zsum (weights pb))) p c e y HT Hp He (Pos y ltac:(lra))) as (s & Q). exists s. intros u Hu. specialize (Q u (Pos u Hu)).
    unfold chi_square. destruct (K u) as [A B]. destruct (K y) as [A' B']. rewrite !squares_zphi, A, B, A', B'. simpl phi.
    set (t := IZR (zsum (weights pb))) in *. replace (t * ((c + p * y) / t)) with (c + p * y) by (field; lra).
    replace (t * ((c + p * u) / t)) with (c + p * u) by (field; lra). exact Q.
Qed.
Lemma earned_ends pb E own lo hi l1 l2 y : formed pb -> (0 < E)%Z -> 1 <= lo -> length (l1 ++ y :: l2) = length (weights pb) -> Forall (Rle 1) l1 -> Forall (Rle 1) l2 -> lo <= y <= hi ->
  let F v := IZR E * earned pb v - dot own v in F (l1 ++ y :: l2) <= Rmax (F (l1 ++ lo :: l2)) (F (l1 ++ hi :: l2)).
Proof.
  intros FM HE Hlo L H1 H2 Hy F. apply IZR_lt in HE. destruct (dot_mid own l1 l2) as (oc & oa & OE). apply (ends_of (fun u => F (l1 ++ u :: l2))); auto.
  destruct (earned_support pb l1 l2 y FM L H1 H2 ltac:(lra)) as (s & S). exists (IZR E * s - oa). unfold F. rewrite !OE.
  split; [pose proof (S lo ltac:(lra)) as Q|pose proof (S hi ltac:(lra)) as Q]; apply Rmult_le_compat_l with (r := IZR E) in Q; lra.
Qed.
Lemma slim_range g V v : Forall (Z.le 0) V -> length V = length v -> Forall (fun y => y = 1 \/ y = vd g) v -> 1 <= vd g ->
  vd (zsum V * D) <= dot V v <= vd (zsum V * g).
Proof.
  intros P L C Hg. destruct (count_high _ _ C V L) as (n & En & Kn). specialize (Kn P). destruct Kn as [n0 n1]. apply IZR_le in n0, n1. rewrite En.
  unfold vd in *. rewrite !mult_IZR. fold DR. replace (IZR (zsum V) * DR * d) with (IZR (zsum V) * (DR * d)) by ring. rewrite DRd. nra.
Qed.
Lemma zsum_ones {A} (l : list A) : zsum (map (fun _ => 1%Z) l) = zlen l.
Proof. induction l; auto. cbn [map zsum zlen]. lia. Qed.
(* What holds at the corners of the box holds in it. *)
Definition corner_env pb E G p cl := let W := weights pb in Env (kind_of pb) E (zsum W) W (groups_of pb) (Some (G, p)) NoEdges [] [W; map (fun _ => 1%Z) W] (rows pb) cl false.
Definition corner_root (W own : list Z) G p p1 := State own [Col (map (fun _ => Ent D p1 (Some (G, p))) W) [(zsum W * D, zsum W * G); (zlen W * D, zlen W * G)]%Z].
Lemma corner_env_ok pb E G p cl : formed pb -> (0 < E)%Z -> (D <= G)%Z -> phi_up (kind_of pb) G = Some p -> env_ok (corner_env pb E G p cl).
Proof.
  intros FM HE HG P0. apply phi_up_ok in P0. destruct P0 as [P0 _]. apply (make_env pb (Header Corner E [] [] [])); auto; simpl. repeat constructor. now rewrite map_length. intros G' p' Q. apply Some_inj in Q. injection Q as <- <-. auto.
Qed.
Lemma corner_box pb E own cl G p p1 : formed pb -> (0 < E)%Z -> (D <= G)%Z -> phi_up (kind_of pb) D = Some p1 -> phi_up (kind_of pb) G = Some p -> length own = length (weights pb) ->
  good (corner_env pb E G p cl) (corner_root (weights pb) own G p p1) ->
  forall v, length v = length (weights pb) -> Forall (fun y => 1 <= y <= vd G) v -> IZR E * earned pb v - dot own v <= 0.
Proof.
  intros FM HE HG P1 P0 LA G1. set (W := weights pb) in *. set (en := corner_env pb E G p cl) in *. set (T := zsum W). set (k := zlen W).
  apply phi_up_ok in P1, P0. destruct P1 as [P1 _]. destruct P0 as [P0 _]. pose proof HG as Hg. apply vd_mono in Hg. rewrite vdD in Hg.
  assert (CV : forall v, length v = length W -> Forall (fun y => y = 1 \/ y = vd G) v -> IZR E * earned pb v - dot own v <= 0).
  { intros v Lv Cv. specialize (G1 ltac:(simpl; auto) [v]).
    assert (Dm : dom en v).
    { constructor; simpl; auto; try discriminate. eapply Forall_impl; [|exact Cv]. simpl. intros a [-> | ->]; lra.
      intros G' p' Q. apply Some_inj in Q. injection Q as <- <-. auto. }
    assert (Sc : sat en (corner_root W own G p p1) [v]).
    { constructor; [|constructor]. split; simpl.
      - clear - Cv Lv Hg P1 P0. revert Lv. generalize W. induction Cv as [|y v H0 H IH]; intros [|w V] Lv; simpl in *; try discriminate; constructor; auto.
        repeat split; simpl; auto. pose proof D_pos. lia. rewrite vdD. destruct H0; subst; lra. destruct H0; subst; lra.
      - pose proof (slim_range G W v (fW pb FM) (eq_sym Lv) Cv Hg) as S1.
        pose proof (slim_range G (map (fun _ => 1%Z) W) v ltac:(apply Forall_map, Forall_forall; intros; lia) ltac:(rewrite map_length; auto) Cv Hg) as S2.
        rewrite zsum_ones in S2. tauto. }
    specialize (G1 (Forall_cons _ Dm (Forall_nil _)) Sc). unfold goal, owes in G1. simpl in G1. exact G1. }
  intros v Lv Hv. apply (corners_enough (fun v => IZR E * earned pb v - dot own v) (length W) 1 (vd G) Hg); auto.
  intros l1 l2 y L A B Y. apply (earned_ends pb E own); auto; try lra; eapply Forall_impl; try eassumption; simpl; intros; lra.
Qed.
Lemma corner_ok pb cl hd r G p p1 toks : formed pb -> (0 < eunit hd)%Z -> base pb = Complete r -> at_least r G D = true -> (D <= G)%Z ->
  phi_up (kind_of pb) D = Some p1 -> phi_up (kind_of pb) G = Some p -> length (prices hd) = length (weights pb) ->
  run (corner_env pb (eunit hd) G p cl) toks [corner_root (weights pb) (zscale (zsum (weights pb)) (prices hd)) G p p1] = true ->
  forall q, column pb q -> IZR (eunit hd) * earned pb q <= dot (zscale (zsum (weights pb)) (prices hd)) q.
Proof.
  intros FM HE HB HA HG P1 P0 LA HC q (Lq & Nq & Iq & _). pose proof (run_ok _ (corner_env_ok pb (eunit hd) G p cl FM HE HG P0) _ _ HC) as GG. inversion GG as [|? ? G1 _]; subst.
  assert (LO : length (zscale (zsum (weights pb)) (prices hd)) = length (weights pb)) by (rewrite len_scale; auto).
  pose proof (corner_box pb (eunit hd) _ cl G p p1 FM HE HG P1 P0 LO G1) as BX.
  rewrite HB, <- Lq in Iq. destruct (complete_box r G D q HA HG Nq Iq) as [Z0|(s & S0 & B)].
  - rewrite (zero_all q Z0). rewrite earned_zero; auto. lra. rewrite (zero_all q Z0). lra.
  - rewrite vdD in B. specialize (BX (scale s q) ltac:(rewrite len_scaleR; auto) B). rewrite earned_scale, dotR_scale in BX by auto.
    apply (Rmult_le_reg_l s); auto. lra.
Qed.

(* ---- tests on columns ---- *)
Lemma dual_ok pb cl hd es root toks qs : formed pb -> (0 < eunit hd)%Z -> edges_of (zlen (weights pb)) (base pb) (pairs hd) = Some es ->
  match es with Pairs _ g h => if (h <=? g)%Z then Some (map (fun _ => Ent h 0 (Some (g, 0%Z))) (weights pb)) else None
    | _ => Some (map (fun _ => Ent 0 0 None) (weights pb)) end = Some root -> Forall (fun q => length q = length (weights pb)) qs ->
  run (Env Plain (eunit hd) (zsum (weights pb)) (weights pb) (groups_of pb) None es (halfspaces pb) [] (rows pb) cl false) toks
    (map (fun q => State q [Col root []]) qs) = true ->
  forall o q, In o qs -> column pb q -> 0 <= dot o q.
Proof.
  intros FM HE HES HR LQ HC o q I Hq. set (en := Env Plain _ _ _ _ _ _ _ _ _ _ _) in *. pose proof Hq as (Lq & Nq & Iq & Hh).
  assert (OK : env_ok en) by (apply (make_env pb hd); simpl; auto; discriminate).
  pose proof (run_ok en OK _ _ HC) as GG. rewrite Forall_map, Forall_forall in GG. specialize (GG o I). rewrite Forall_forall in LQ.
  assert (K : forall v, dom en v -> Forall2 (okent Plain) root v -> 0 <= dot o v).
  { intros v Dv Sv. assert (S : sat en (State o [Col root []]) [v]) by (constructor; [split; simpl; auto|constructor]).
    pose proof (GG (fun _ => LQ o I) [v] (Forall_cons _ Dv (Forall_nil _)) S) as G. unfold goal, owes, gain in G. simpl in G. lra. }
  assert (Dm : forall s, 0 <= s -> dom en (scale s q)).
  { intros s Hs. constructor; simpl; try discriminate. rewrite len_scaleR; auto. now apply scale_pos. apply edges_scale; auto. eapply column_edges; eauto. now apply halfs_scale. }
  assert (P0 : forall l, phi Plain (vd l) <= IZR 0 * d * d) by (intros; simpl; lra).
  assert (RT : forall e v, Forall (okent Plain e) v -> length v = length (weights pb) -> Forall2 (okent Plain) (map (fun _ => e) (weights pb)) v).
  { intros e v H. generalize (weights pb). induction H; intros [|w V] L; simpl in *; try discriminate; constructor; auto. }
  assert (Raw : root = map (fun _ => Ent 0 0 None) (weights pb) -> 0 <= dot o q).
  { intros ->. pose proof (K (scale 1 q) (Dm 1 ltac:(lra))) as Q. rewrite dotR_scale, Rmult_1_l in Q. apply Q, RT; [|rewrite len_scaleR; auto].
    eapply Forall_impl; [|apply (scale_pos 1 q ltac:(lra) Nq)]. intros y Hy. repeat split; simpl; auto; try lia; unfold vd; lra. }
  destruct es as [|k g h|t]; [apply Raw; congruence| |apply Raw; congruence]. destruct (Z.leb_spec h g) as [Hg|]; [|discriminate]. apply Some_inj in HR. subst root.
  unfold edges_of in HES. destruct (base pb) as [|r|l|] eqn:B; [destruct (pairs hd); discriminate| |destruct (join at_least (zlen (weights pb)) l (pairs hd)); discriminate|destruct (pairs hd); discriminate].
  destruct (pairs hd) as [|[g0 h0] [|]]; try discriminate. destruct (at_least r g0 h0) eqn:A; [|discriminate]. apply Some_inj in HES. injection HES as _ -> ->.
  rewrite <- Lq in Iq. destruct (complete_box r g h q A Hg Nq Iq) as [Z0|(s & S0 & Bx)]. { rewrite (zero_all q Z0). lra. }
  assert (Q : 0 <= dot o (scale s q)).
  { apply (K _ (Dm s ltac:(lra))), RT; [|rewrite len_scaleR; auto]. apply at_least_ok in A. destruct A as (_ & h0' & _).
    eapply Forall_impl; [|exact Bx]. intros y [Y1 Y2]. repeat split; simpl; auto; try lia; lra. }
  rewrite dotR_scale in Q. apply (Rmult_le_reg_l s); auto. lra.
Qed.
Lemma in_iota {A} (f : Z -> A) : forall n i y, (i <= y < i + Z.of_nat n)%Z -> In (f y) (iota i n f).
Proof.
  induction n; intros i y H; [lia|]. cbn [iota]. destruct (Z.eq_dec y i) as [->|N]; [now left|]. right. apply IHn. lia.
Qed.
Lemma best_le c : forall l, l <> [] -> (forall a, In a l -> a <= c) -> best l <= c.
Proof.
  induction l as [|a l IH]; [congruence|]. intros _ H. destruct l as [|b l]. { simpl. apply H. now left. }
  change (Rmax a (best (b :: l)) <= c). apply Rmax_lub. apply H. now left. apply IH. discriminate. intros x I. apply H. now right.
Qed.
Lemma len_products : forall V g, length g = length V -> length (products V g) = length V.
Proof. induction V; destruct g; simpl; intros; try discriminate; auto. Qed.
(* What mode dual has checked before its tests. *)
Definition dual_checked pb cl hd es root toks qs b b0 := tests pb hd = Some qs /\ add_rows (zlen (weights pb)) 1 (rows pb) (mults hd) Tip 0 = Some (b0, b) /\
  pays cl (eunit hd) (zsum (prices hd) + b) = true /\ length (prices hd) = length (weights pb) /\ edges_of (zlen (weights pb)) (base pb) (pairs hd) = Some es /\
  match es with Pairs _ g h => if (h <=? g)%Z then Some (map (fun _ => Ent h 0 (Some (g, 0%Z))) (weights pb)) else None
    | _ => Some (map (fun _ => Ent 0 0 None) (weights pb)) end = Some root /\
  run (Env Plain (eunit hd) (zsum (weights pb)) (weights pb) (groups_of pb) None es (halfspaces pb) [] (rows pb) cl false) toks
    (map (fun q => State q [Col root []]) qs) = true.
Lemma linear_ok pb cl hd es root toks qs den cost b b0 N M : formed pb -> (0 < eunit hd)%Z -> objective pb = Linear den cost -> cl = (N, M) -> (0 < M)%Z ->
  dual_checked pb cl hd es root toks qs b b0 -> forall Q, mechanism pb Q -> worth pb Q <= IZR N / IZR M.
Proof.
  intros FM HE HO HC HM (HT & HR0 & HP & LA & HES & HRT & HRun) Q HQ. pose proof (fO pb FM) as O. unfold tests in HT. cbv zeta in HT. rewrite HO in HT, O. destruct O as (Hden & HOut & HCost).
  set (k := zlen (weights pb)) in *. set (E := eunit hd) in *. destruct (add_rows k den (rows pb) (mults hd) (add_terms k (- E) cost Tip) 0) as [[t b']|] eqn:R0; [|discriminate].
  apply Some_inj in HT. subst qs. assert (b' = b) by (eapply add_rows_right; eauto). subst b'. pose proof HQ as (HQ1 & _ & Hlen & HRows).
  assert (LQ : Forall (fun q => Z.of_nat (length q) = k) Q). { eapply Forall_impl; [|exact HQ1]. intros q (L & _). unfold k. rewrite zlen_len. lia. }
  pose proof (add_rows_ok k den _ Q LQ ltac:(lia) _ _ _ _ _ _ (fR pb FM) HRows R0) as I1. rewrite (add_terms_ok k (- E) _ Q LQ cost Tip HCost), mdot_tip, opp_IZR in I1.
  assert (DT : forall o q, In o (numbers (count pb) (fun y => merge (y * k) t (zscale den (prices hd)))) -> column pb q -> 0 <= dot o q).
  { eapply dual_ok; eauto. apply Forall_forall. intros o I. unfold numbers in I. revert I. generalize 0%Z. generalize (Z.to_nat (count pb)).
    induction n; simpl; intros i I; [destruct I|]. destruct I as [<-|I]; [rewrite len_merge, len_scale; auto|eauto]. }
  assert (I2 : forall i Q', (0 <= i)%Z -> (i + Z.of_nat (length Q') <= count pb)%Z -> Forall (column pb) Q' -> 0 <= IZR den * total (dot (prices hd)) Q' + mdot k i t Q').
  { intros i Q' Hi Hn H. revert i Hi Hn. induction H as [|q Q' Hq H IH]; simpl length; simpl total; simpl mdot; intros i Hi Hn; [lra|]. specialize (IH (i + 1)%Z ltac:(lia) ltac:(lia)).
    pose proof (DT _ q (in_iota (fun y => merge (y * k) t (zscale den (prices hd))) (Z.to_nat (count pb)) 0 i ltac:(lia)) Hq) as V.
    rewrite dot_merge, dot_scale in V; [lra|]. rewrite len_scale. destruct Hq as (L & _). congruence. }
  specialize (I2 0%Z Q ltac:(lia)). unfold count in I2 at 1. destruct (outputs pb) as [m|] eqn:OM; [|congruence]. specialize (I2 ltac:(lia) HQ1).
  rewrite (sum_prices pb Q _ HQ LA) in I2. rewrite HC in HP. apply pays_ok in HP; auto. eapply Rle_trans; [|exact HP]. unfold worth. rewrite HO. apply IZR_lt in HE, Hden.
  rewrite plus_IZR. apply le_ratio; auto. apply (Rmult_le_reg_l (IZR den)); auto. unfold E in *. replace (IZR den * (IZR (eunit hd) * (form cost Q / IZR den))) with (IZR (eunit hd) * form cost Q) by (field; lra). lra.
Qed.
Lemma bayes_ok pb cl hd es root toks qs den gains b b0 N M : formed pb -> (0 < eunit hd)%Z -> objective pb = Bayes den gains -> cl = (N, M) -> (0 < M)%Z ->
  dual_checked pb cl hd es root toks qs b b0 -> forall Q, mechanism pb Q -> worth pb Q <= IZR N / IZR M.
Proof.
  intros FM HE HO HC HM (HT & HR0 & HP & LA & HES & HRT & HRun) Q HQ. pose proof (fO pb FM) as O. unfold tests in HT. cbv zeta in HT. rewrite HO in HT, O. destruct O as (Hden & Hg0 & Hg).
  set (E := eunit hd) in *. assert (RW : rows pb = []) by (destruct (rows pb); auto; discriminate). rewrite RW in HT, HR0. apply Some_inj in HT. subst qs. pose proof HQ as (HQ1 & _).
  assert (b = 0%Z). { simpl in HR0. destruct (mults hd); [|discriminate]. congruence. } subst b. rewrite Z.add_0_r in HP.
  pose proof (fT pb FM) as T0. set (T := zsum (weights pb)) in *. rewrite Forall_forall in Hg.
  assert (DT : forall g q, In g gains -> column pb q -> IZR E * dot (products (weights pb) g) q <= IZR den * IZR T * dot (prices hd) q).
  { intros g q I Hq. pose proof (Hg g I) as Lg. pose proof (len_products (weights pb) g Lg) as Lp.
    assert (V : 0 <= dot (zplus (zscale (den * T) (prices hd)) (zscale (- E) (products (weights pb) g))) q).
    { refine (dual_ok pb cl hd es root toks _ FM HE HES HRT _ HRun _ q (in_map _ _ _ I) Hq).
      apply Forall_map, Forall_forall. intros g' I'. rewrite len_zplus; rewrite !len_scale; auto. rewrite len_products; auto. }
    rewrite dot_zplus, !dot_scale, mult_IZR, opp_IZR in V by (rewrite !len_scale; lia). lra. }
  rewrite HC in HP. apply pays_ok in HP; auto. eapply Rle_trans; [|exact HP]. unfold worth. rewrite HO. fold T. rewrite <- (sum_prices pb Q _ HQ LA).
  apply IZR_lt in HE, Hden, T0. apply le_ratio; auto. apply (Rmult_le_reg_l (IZR T * IZR den)); [nra|].
  match goal with |- ?a * (?e * (?s / ?a)) <= _ => replace (a * (e * (s / a))) with (e * s) by (field; lra) end. rewrite <- !total_mult.
  apply total_le. intros q I. rewrite Forall_forall in HQ1. pose proof (HQ1 q I) as Hq.
  assert (B : best (map (fun g => dot (products (weights pb) g) q) gains) <= IZR T * IZR den * dot (prices hd) q / IZR E).
  { apply best_le. { destruct gains; simpl; congruence. } intros a Ia. apply in_map_iff in Ia. destruct Ia as (g & <- & Ig). apply le_ratio; auto. pose proof (DT g q Ig Hq). lra. }
  apply Rmult_le_compat_l with (r := IZR E) in B; [|lra]. eapply Rle_trans; [exact B|]. right. unfold E in *. field. lra.
Qed.

(* ---- the entropy of the input as prices ---- *)
Lemma entropy_ok E T V A q w : 0 < IZR T -> 0 < w -> 0 <= IZR E -> length q = length V -> length A = length V -> Forall (Z.le 0) V -> Forall (Rle 0) q ->
  (forall x, (x < length V)%nat -> IZR (nth x V 0%Z) * nth x q 0 <= IZR T * w) -> entropy_prices E T V A = true -> IZR E * relative V w q <= IZR T * dot A q.
Proof.
  intros HT Hw HE. revert A q. induction V as [|v V IH]; intros [|a A] [|y q] Lq LA HV Nq H HP; simpl in *; try discriminate; try lra.
  inversion HV as [|? ? V0 HV']; inversion Nq as [|? ? Y0 Nq']; subst. apply andb_prop in HP. destruct HP as [P1 P2].
  specialize (IH A q ltac:(lia) ltac:(lia) HV' Nq' (fun x X => H (S x) ltac:(lia)) P2). specialize (H O ltac:(lia)). simpl in H.
  assert (K : IZR E * (IZR v * (y * ln (y / w))) <= IZR T * (IZR a * y)); [|lra]. destruct (Z.eqb_spec v 0) as [->|v0].
  { apply Z.leb_le, IZR_le in P1. rewrite Rmult_0_l, Rmult_0_r. apply Rmult_le_pos; [lra|]. now apply Rmult_le_pos. }
  destruct (log_above T v) as [u|] eqn:L; [|discriminate]. apply Z.leb_le, IZR_le in P1. rewrite !mult_IZR in P1. fold DR in P1. apply log_ok in L. destruct L as (_ & vp & L). apply IZR_lt in vp.
  destruct Y0 as [Y0|<-]; [|lra]. pose proof DR_pos as DP.
  assert (I : ln (y / w) <= IZR u / DR).
  { eapply Rle_trans; [|exact L]. assert (Q : y / w <= IZR T / IZR v).
    { apply (Rmult_le_reg_r (w * IZR v)); [nra|]. replace (y / w * (w * IZR v)) with (IZR v * y) by (field; lra). replace (IZR T / IZR v * (w * IZR v)) with (IZR T * w) by (field; lra). lra. }
    destruct Q as [Q|Q]. left. apply ln_increasing; auto. now apply Rdiv_lt_0_compat. right. now f_equal. }
  assert (Ev : 0 <= IZR E * IZR v) by (apply Rmult_le_pos; lra). apply Rmult_le_compat_l with (r := IZR E * IZR v) in I; auto.
  assert (J : IZR E * IZR v * (IZR u / DR) <= IZR T * IZR a). { apply (Rmult_le_reg_r DR); auto. replace (IZR E * IZR v * (IZR u / DR) * DR) with (IZR E * IZR v * IZR u) by (field; lra). lra. }
  apply Rle_trans with (IZR E * IZR v * ln (y / w) * y); [lra|]. apply Rle_trans with (IZR T * IZR a * y); [|lra]. apply Rmult_le_compat_r; lra.
Qed.
Lemma part_le : forall V q, Forall (Z.le 0) V -> Forall (Rle 0) q -> forall x, IZR (nth x V 0%Z) * nth x q 0 <= dot V q.
Proof.
  induction V as [|v V]; intros [|y q] H1 H2 [|x]; simpl; try lra; inversion H1 as [|? ? A B]; inversion H2 as [|? ? C G]; subst; apply IZR_le in A.
  - pose proof (dot_pos V q B G). lra. - pose proof (IHV q B G x). nra.
Qed.

Lemma kind_found pb kd : match objective pb with Information _ => Some Entropic | ChiSquare => Some Square | _ => None end = Some kd -> kd = kind_of pb /\ kd <> Plain.
Proof. unfold kind_of. intros X. destruct (objective pb); try discriminate; apply Some_inj in X; subst; split; auto; discriminate. Qed.

(* ---- the theorems ---- *)
Theorem verify_sound pb N M hd toks : verify pb (N, M) hd toks = true -> forall Q, mechanism pb Q -> worth pb Q <= IZR N / IZR M.
Proof.
  unfold verify. destruct (start pb (N, M) hd) as [[en stack]|] eqn:S; [|discriminate]. intros HRun Q HQ. unfold start in S. cbv zeta in S.
  destruct (well_formed pb && (0 <? eunit hd)%Z && (0 <? snd (N, M))%Z)%bool eqn:WF; simpl negb in S; cbv iota in S; [|discriminate]. split_and WF. apply well_formed_ok in WF. apply Z.ltb_lt in WF0, WF1. simpl in WF0.
  destruct (edges_of (zlen (weights pb)) (base pb) (pairs hd)) as [es|] eqn:ES; [|discriminate].
  destruct (add_rows (zlen (weights pb)) 1 (rows pb) (match mod_ hd with Dual => mults hd | _ => map (fun _ => 0%Z) (rows pb) end) Tip 0) as [[b0 b]|] eqn:R0; [|discriminate].
  pose proof HQ as (HQ1 & _ & _ & HRows).
  assert (LQ : Forall (fun q => Z.of_nat (length q) = zlen (weights pb)) Q). { eapply Forall_impl; [|exact HQ1]. intros q (L & _). rewrite zlen_len. lia. }
  assert (B0 : mod_ hd <> Dual -> 0 <= IZR b).
  { intros ND. assert (b = 0%Z); [|subst; lra]. clear - R0 ND. destruct (mod_ hd); try congruence; clear ND; revert R0; generalize (@Tip Z);
      induction (rows pb) as [|r rs IH]; simpl; intros t R0; try congruence; destruct (equal r); simpl in R0; eauto. }
  assert (HA : mod_ hd <> Sheets -> length (prices hd) = length (weights pb) /\ pays (N, M) (eunit hd) (zsum (prices hd) + b) = true).
  { intros NS. destruct (mod_ hd); try congruence; destruct (alike (prices hd) (weights pb) && pays (N, M) (eunit hd) (zsum (prices hd) + b))%bool eqn:X; try discriminate; split_and X; apply alike_len in X; auto. }
  match type of S with (if ?c then None else _) = _ => destruct c; [discriminate|] end.
  rewrite Forall_forall in HQ1.
  destruct (mod_ hd) eqn:MO.
  - (* Dual *) destruct (HA ltac:(discriminate)) as [LA HP]. destruct (objective pb) as [den cost|den gains|gs|] eqn:O; try discriminate.
    all: destruct (tests pb hd) as [qs|] eqn:TS; [|discriminate]; match type of S with match ?r with _ => _ end = _ => destruct r as [root|] eqn:RT; [|discriminate] end.
    all: apply Some_inj in S; injection S as <- <-; assert (DC : dual_checked pb (N, M) hd es root toks qs b b0) by (unfold dual_checked, groups_of; rewrite O; auto 10).
    + eapply linear_ok; eauto.
    + eapply bayes_ok; eauto.
  - (* Corner *) destruct (HA ltac:(discriminate)) as [LA HP].
    destruct (match objective pb with Information _ => Some Entropic | ChiSquare => Some Square | _ => None end) as [kd|] eqn:K; [|discriminate]. apply kind_found in K. destruct K as [-> KP].
    destruct es as [|k0 G h|]; try discriminate. destruct (phi_up (kind_of pb) D) as [p1|] eqn:P1; [|discriminate].
    match type of S with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. split_and C. apply Z.eqb_eq in C. subst h. apply Z.leb_le in C1.
    destruct (phi_up (kind_of pb) G) as [p|] eqn:P0; [|discriminate]. apply Some_inj in S. injection S as <- <-.
    unfold edges_of in ES. destruct (base pb) as [|r|l|] eqn:B; [destruct (pairs hd); discriminate| |destruct (join at_least (zlen (weights pb)) l (pairs hd)); discriminate|destruct (pairs hd); discriminate].
    destruct (pairs hd) as [|[g0 h0] [|]]; try discriminate. destruct (at_least r g0 h0) eqn:AL; [|discriminate]. apply Some_inj in ES. injection ES as _ -> ->.
    eapply (conclude pb (N, M) hd WF WF1 Q b N M); eauto. apply B0. discriminate. intros q I. eapply corner_ok; eauto.
  - (* Box *) destruct (HA ltac:(discriminate)) as [LA HP].
    destruct (match objective pb with Information _ => Some Entropic | ChiSquare => Some Square | _ => None end) as [kd|] eqn:K; [|discriminate]. apply kind_found in K. destruct K as [-> KP].
    destruct (roots (kind_of pb) (zsum (weights pb)) (weights pb)) as [r|] eqn:RT; [|discriminate]. apply Some_inj in S. injection S as <- <-.
    eapply (conclude pb (N, M) hd WF WF1 Q b N M); eauto. apply B0. discriminate. intros q I. eapply box_ok; eauto.
  - (* Sheets *)
    destruct (match objective pb with Information _ => Some Entropic | ChiSquare => Some Square | _ => None end) as [kd|] eqn:K; [|discriminate]. apply kind_found in K. destruct K as [-> KP].
    destruct (roots (kind_of pb) (zsum (weights pb)) (weights pb)) as [r|] eqn:RT; [|discriminate]. destruct (outputs pb) as [m|] eqn:OM; [|discriminate].
    destruct (forallb (Z.ltb 0) (weights pb)) eqn:POS; [|discriminate]. apply Some_inj in S. injection S as <- <-.
    destruct (sheets_ok pb (N, M) hd WF WF1 es ES Q r m toks HQ OM POS RT HRun) as (A & t & s & ls & LA & RS & PB & F).
    pose proof (add_rows_ok _ 1 _ Q LQ ltac:(lia) _ _ _ _ _ _ (fR pb WF) HRows RS) as I. rewrite mdot_tip in I. rewrite (sum_prices pb Q A HQ LA) in F.
    apply pays_ok in PB; auto. eapply Rle_trans; [|exact PB]. rewrite plus_IZR. pose proof (fT pb WF) as T0. apply IZR_lt in T0, WF1.
    rewrite worth_earned by auto. apply le_ratio; auto. apply (Rmult_le_reg_l (IZR (zsum (weights pb)))); auto.
    replace (IZR (zsum (weights pb)) * (IZR (eunit hd) * (total (earned pb) Q / IZR (zsum (weights pb))))) with (IZR (eunit hd) * total (earned pb) Q) by (field; lra).
    eapply Rle_trans; [exact F|]. apply Rmult_le_compat_l; lra.
  - (* Known *) destruct (HA ltac:(discriminate)) as [LA HP]. destruct (objective pb) as [| |gs|] eqn:O; try discriminate.
    match type of S with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. split_and C. destruct gs as [|G0 [|]]; try discriminate. apply same_eq in C. subst G0.
    eapply (conclude pb (N, M) hd WF WF1 Q b N M); eauto. apply B0. discriminate. unfold kind_of. rewrite O. discriminate.
    intros q I. destruct (HQ1 q I) as (Lq & Nq & _). rewrite dot_scale. pose proof (fT pb WF) as T0. apply IZR_lt in T0.
    destruct (Rle_dec (dot (weights pb) q) 0) as [Z0|Z0].
    + assert (EZ : earned pb q = 0) by (apply earned_zero; auto). rewrite EZ, Rmult_0_r. apply Rmult_le_pos; [lra|].
      clear - C0 Nq Z0 WF LA Lq. pose proof (fW pb WF) as HW. revert Z0 C0 LA Lq. generalize (prices hd) (zsum (weights pb)). revert HW. generalize (weights pb). intros V HV A T. revert A q Nq.
      induction V as [|v V IH]; intros [|a A] [|y q] Nq Z0 C LA Lq; simpl in *; try discriminate; try lra. inversion Nq as [|? ? Y0 Nq']; inversion HV as [|? ? V0 HV']; subst. apply IZR_le in V0.
      split_and C. pose proof (dot_pos V q HV' Nq') as P0. specialize (IH HV' A q Nq' ltac:(nra) C0 ltac:(lia) ltac:(lia)).
      destruct (Z.eqb_spec v 0) as [->|v0]. { apply Z.leb_le, IZR_le in C. pose proof (Rmult_le_pos _ _ C Y0). lra. }
      assert (v0' : 0 < IZR v). { apply IZR_lt. apply le_IZR in V0. lia. } assert (y = 0) by nra. subst y. lra.
    + unfold earned, kind_of, groups_of. rewrite O. unfold information. simpl total. rewrite Rplus_0_r.
      set (w := dot (weights pb) q / IZR (zsum (weights pb))). assert (Hw : 0 < w) by (apply Rdiv_lt_0_compat; lra).
      apply entropy_ok; auto. apply IZR_lt in WF1. lra. apply WF.
      intros x _. replace (IZR (zsum (weights pb)) * w) with (dot (weights pb) q) by (unfold w; field; lra). apply part_le; auto. apply WF.
Qed.
Lemma worth_emptied pb Q : worth (emptied pb) Q = 0.
Proof.
  unfold worth, emptied. simpl. destruct (outputs pb); simpl. { unfold form. simpl. lra. }
  replace (total _ Q) with 0; [unfold Rdiv; ring|]. induction Q as [|q Q IH]; simpl; auto. rewrite <- IH.
  assert (H : forall V v, dot (products V (zeros V)) v = 0).
  { induction V as [|c V HV]; intros [|y v]; simpl; auto. unfold zeros in HV. rewrite HV, Z.mul_0_r. lra. } rewrite H. lra.
Qed.
Theorem refute_sound pb N M hd toks : refute pb (N, M) hd toks = true -> forall Q, ~ mechanism pb Q.
Proof.
  unfold refute. intros H Q HQ. split_and H. apply Z.ltb_lt in H. simpl in H. assert (HQ' : mechanism (emptied pb) Q) by exact HQ.
  pose proof (verify_sound _ _ _ _ _ H0 Q HQ') as B. rewrite worth_emptied in B. unfold verify, start in H0.
  destruct (well_formed (emptied pb) && (0 <? eunit hd)%Z && (0 <? snd (N, M))%Z)%bool eqn:WF; [|discriminate]. split_and WF. apply Z.ltb_lt in WF0. simpl in WF0.
  apply IZR_lt in H, WF0. apply Rmult_le_compat_r with (r := IZR M) in B; [|lra]. unfold Rdiv in B. rewrite Rmult_assoc, Rinv_l in B; lra.
Qed.
