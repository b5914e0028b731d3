(* A limit on a convex function as one more input of weight 0: its entry in a column is at least the linear forms below the
   function, over the limit, and half-spaces say so. What is proved of the larger problem holds of the one with the limit. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant.
Import ListNotations.

(* ---- the check ---- *)
Open Scope Z_scope.
Definition wider (a : utility) := match a with Linear _ _ | ChiSquare => a
  | Bayes den gains => Bayes den (map (fun g => g ++ [0]) gains) | Information gs => Information (map (fun G => G ++ [0]) gs) end.
Definition wide (u : convex) := Convex (prior u ++ [0]) (wider (aim u)).
Fixpoint ratios_to (r : ratio) (x z : Z) (W : list Z) : list (Z * Z * ratio) := match W with [] => []
  | _ :: W => if x =? z then ratios_to r x (z + 1) W else (x, z, r) :: ratios_to r x (z + 1) W end.
Fixpoint all_ratios (r : ratio) (x : Z) (W V : list Z) : list (Z * Z * ratio) := match V with [] => []
  | _ :: V => ratios_to r x 0 W ++ all_ratios r (x + 1) W V end.
Definition open_cone W c := match c with Complete r => Graph (all_ratios r 0 W W) | _ => c end.
Definition inside k (c : cone) := match c with
  | Graph es => forallb (fun e => match e with (x, z, _) => (0 <=? x) && (x <? k) && (0 <=? z) && (z <? k) end) es
  | Complete _ => k <=? 1024 | Free => true | Robust _ _ _ _ => false end.
Definition no_loss (u : convex) := match aim u with Bayes _ gains => forallb nonnegative gains | _ => true end.
Fixpoint forms_under u (ps : list (list Z)) : option (list (list Z)) := match ps with [] => Some []
  | p :: ps => match under u p, forms_under u ps with Some c, Some l => Some (c :: l) | _, _ => None end end.
Definition lifted co (l : Z * list (list Z)) : option with_convex := let en := inner co in let pb := plain en in let W := weights pb in
  match nthz (fst l) (limits co) with None => None | Some (u, (a, b)) =>
  if well_formed (emptied pb) && match loss co with Some v => convex_ok pb v | None => well_formed pb end && forallb (fun m => convex_ok pb (fst m)) (limits co)
     && inside (zlen W) (base pb) && no_loss u && (0 <? a) && (0 <? b) && (zlen (snd l) * zlen W <=? 10000000) then
  match floors en, bonus en, forms_under u (snd l) with
  | [], [], Some cs => Some (With_convex (With_entropy (Problem (W ++ [0]) (wider (objective pb)) (open_cone W (base pb))
      (map (fun c => c ++ [0]) (halfspaces pb) ++ map (fun c => zscale b c ++ [- (a * unit_of u)]) cs) (outputs pb) (rows pb)) [] [])
      (match loss co with Some v => Some (wide v) | None => None end) (map (fun m => (wide (fst m), snd m)) (limits co)))
  | _, _, _ => None end else None end.
Fixpoint lifted_all co (ls : list (Z * list (list Z))) : option with_convex := match ls with [] => Some co
  | l :: ls => match lifted co l with Some co => lifted_all co ls | None => None end end.
Definition lifted_few co (ls : list (Z * list (list Z))) := if zlen ls <=? 64 then lifted_all co ls else None.
Close Scope Z_scope.
Open Scope R_scope.

(* ---- functions are not negative ---- *)
Lemma relative_pos w : 0 < w -> forall G q, Forall (Z.le 0) G -> Forall (Rle 0) q -> length q = length G -> dot G q - w * IZR (zsum G) <= relative G w q.
Proof.
  intros Hw. induction G as [|g G IH]; intros [|y q] HG Hq L; simpl in *; try discriminate; try lra. inversion HG as [|? ? g0 HG']; inversion Hq as [|? ? y0 Hq']; subst. apply IZR_le in g0.
  specialize (IH q HG' Hq' ltac:(lia)). rewrite plus_IZR. assert (Z0 : 0 <= y / w) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto).
  pose proof (tangent (y / w) 1 0 Z0 ltac:(lra) ltac:(rewrite ln_1; lra)) as K. simpl in K. apply Rmult_le_compat_l with (r := w * IZR g) in K; [|nra].
  replace (w * IZR g * - (y / w * ln (y / w))) with (- (IZR g * (y * ln (y / w)))) in K by (field; lra). replace (w * IZR g * (1 - y / w * (1 + 0))) with (w * IZR g - IZR g * y) in K by (field; lra). lra.
Qed.
Lemma squares_pos w : forall W q, Forall (Z.le 0) W -> length q = length W -> 2 * w * dot W q - w * w * IZR (zsum W) <= squares W q.
Proof.
  induction W as [|g W IH]; intros [|y q] HW L; simpl in *; try discriminate; try lra. inversion HW as [|? ? g0 HW']; subst. apply IZR_le in g0. specialize (IH q HW' ltac:(lia)). rewrite plus_IZR.
  pose proof (Rle_0_sqr (y - w)) as S. unfold Rsqr in S. apply Rmult_le_compat_l with (r := IZR g) in S; auto. lra.
Qed.
Lemma total_pos {A} (f : A -> R) : forall l, (forall a, In a l -> 0 <= f a) -> 0 <= total f l.
Proof. induction l; simpl; intros H; [lra|]. pose proof (H a (or_introl eq_refl)). pose proof (IHl (fun b I => H b (or_intror I))). lra. Qed.
Lemma measure_pos u q : formed (alone u) -> no_loss u = true -> length q = length (prior u) -> Forall (Rle 0) q -> 0 <= measure u [q].
Proof.
  intros FM NL L N. pose proof (fT _ FM) as T0. pose proof (fW _ FM) as W0. pose proof (fO _ FM) as O. unfold no_loss, measure, worth in *. simpl in *. apply IZR_lt in T0. set (T := IZR (zsum (prior u))) in *.
  assert (I0 : 0 <= / T) by (apply Rlt_le, Rinv_0_lt_compat; auto). destruct (aim u) as [den cost|den gains|gs|].
  - destruct O as (_ & O & _). congruence.
  - destruct O as (D0 & GN & GL). apply IZR_lt in D0. apply Rmult_le_pos. 2: { apply Rlt_le, Rinv_0_lt_compat. nra. } destruct gains as [|g gains]; [congruence|]. rewrite Rplus_0_r.
    apply Rle_trans with (dot (products (prior u) g) q). 2: { apply best_ge. simpl. auto. } simpl in NL. apply andb_prop in NL. destruct NL as [NL _]. apply nonneg_all in NL. inversion GL; subst.
    apply dot_pos; auto. clear - NL W0. revert g NL. induction W0; intros [|a g] NL; simpl; auto. inversion NL; subst. constructor; auto. lia.
  - apply Rmult_le_pos; auto. rewrite Rplus_0_r. destruct O as [O _]. apply total_pos. intros G I. rewrite Forall_forall in O. destruct (O G I) as [LG G0]. destruct (Rle_dec (dot G q) 0) as [P|P].
    + destruct (zero_dot G q G0 N P) as (K & _). rewrite K. lra.
    + assert (S0 : 0 < IZR (zsum G)). { apply IZR_lt. pose proof (zsum_nonneg G G0). destruct (Z.eq_dec (zsum G) 0) as [Z0|]; [|lia]. rewrite (zero_sum G q G0 Z0) in P. lra. }
      pose proof (relative_pos (dot G q / IZR (zsum G)) ltac:(apply Rdiv_lt_0_compat; lra) G q G0 N ltac:(congruence)) as K.
      replace (dot G q / IZR (zsum G) * IZR (zsum G)) with (dot G q) in K by (field; lra). lra.
  - apply Rmult_le_pos; auto. rewrite Rplus_0_r. unfold chi_square. fold T. destruct (Rle_dec (dot (prior u) q) 0) as [P|P].
    + destruct (zero_dot _ q W0 N P) as (_ & _ & -> & ->). unfold Rdiv. lra.
    + pose proof (squares_pos (dot (prior u) q / T) (prior u) q W0 ltac:(congruence)) as K. fold T in K. assert (w0 : 0 < dot (prior u) q / T) by (apply Rdiv_lt_0_compat; lra).
      set (w := dot (prior u) q / T) in *. assert (DW : dot (prior u) q = T * w) by (unfold w; field; lra). rewrite DW in K.
      apply (Rmult_le_reg_r w); auto. replace ((squares (prior u) q / w - T * w) * w) with (squares (prior u) q - T * w * w) by (field; lra). lra.
Qed.

(* ---- one more entry ---- *)
Notation longer := (fun p : list R * R => fst p ++ [snd p]).
Lemma dot_longer c z : forall q e, length c = length q -> dot (c ++ [z]) (q ++ [e]) = dot c q + IZR z * e.
Proof. induction c; intros [|y q] e L; simpl in *; try discriminate; try lra. rewrite IHc by lia. lra. Qed.
Lemma relative_longer w G : forall q e, length G = length q -> relative (G ++ [0%Z]) w (q ++ [e]) = relative G w q.
Proof. induction G; intros [|y q] e L; simpl in *; try discriminate; try lra. rewrite IHG by lia. lra. Qed.
Lemma squares_longer W : forall q e, length W = length q -> squares (W ++ [0%Z]) (q ++ [e]) = squares W q.
Proof. induction W; intros [|y q] e L; simpl in *; try discriminate; try lra. rewrite IHW by lia. lra. Qed.
Lemma zsum_longer : forall W, zsum (W ++ [0%Z]) = zsum W. Proof. induction W; simpl; lia. Qed.
Lemma products_longer : forall W g, length g = length W -> products (W ++ [0%Z]) (g ++ [0%Z]) = products W g ++ [0%Z].
Proof. induction W; intros [|b g] L; simpl in *; try discriminate; auto. rewrite IHW by lia. auto. Qed.
Lemma entry_longer x q e : (0 <= x < Z.of_nat (length q))%Z -> entry x (q ++ [e]) = entry x q.
Proof. intros H. unfold entry. rewrite app_nth1 by lia. auto. Qed.
Lemma colsum_longer k : forall L, Forall (fun p => length (fst p) = k) L -> colsum (k + 1) (map longer L) = colsum k (map fst L) ++ [total snd L] /\ length (colsum k (map fst L)) = k.
Proof.
  induction L as [|[q e] L IH]; intros H; simpl. { rewrite repeat_app, repeat_length. auto. } inversion_clear H as [|? ? H1 H2]. destruct (IH H2) as [I J]. rewrite I. simpl in H1.
  split; [|rewrite len_plus; lia]. assert (K : forall a b x y, length a = length b -> plus (a ++ [x]) (b ++ [y]) = plus a b ++ [x + y]).
  { clear. induction a; intros [|c b] x y L; simpl in *; try discriminate; auto. rewrite IHa by lia. auto. } apply K. lia.
Qed.
Lemma form_longer k m L : Forall (fun p => Z.of_nat (length (fst p)) = k) L -> forall ts, forallb (term_ok k m) ts = true -> form ts (map longer L) = form ts (map fst L).
Proof.
  intros H. unfold form. induction ts as [|[[x y] c] ts IH]; simpl; intros T; auto. apply andb_prop in T. destruct T as [T1 T2]. rewrite IH by auto. f_equal. f_equal. rewrite !andb_true_iff, !Z.leb_le, !Z.ltb_lt in T1.
  unfold cell. revert H. generalize (Z.to_nat y). clear - T1. induction L as [|[q e] L IHL]; intros [|n] H; simpl; auto; inversion_clear H as [|? ? H1 H2]; auto. simpl in H1. apply entry_longer. lia.
Qed.
Lemma worth_longer W aim L b hs o rs b' hs' rs' : let pb := Problem W aim b hs o rs in formed pb -> Forall (fun p => length (fst p) = length W) L ->
  worth (Problem (W ++ [0%Z]) (wider aim) b' hs' o rs') (map longer L) = worth pb (map fst L).
Proof.
  cbv zeta. intros FM H. pose proof (fO _ FM) as O. unfold worth. cbn [weights objective] in *. rewrite zsum_longer.
  assert (E : forall f g : list R -> R, (forall p, length (fst p) = length W -> f (longer p) = g (fst p)) -> total f (map longer L) = total g (map fst L)).
  { intros f g F. clear - F H. induction H as [|p L Hp H IH]; simpl; auto. rewrite IH. f_equal. apply (F p Hp). } destruct aim as [den cost|den gains|gs|]; simpl wider; cbv iota.
  - destruct O as (_ & _ & O). unfold Rdiv. f_equal. eapply form_longer; [|exact O]. rewrite zlen_len. eapply Forall_impl; [|exact H]. simpl. intros p Hp. lia.
  - destruct O as (_ & _ & O). f_equal. apply E. intros [q e] Lq. simpl in *. rewrite map_map. f_equal. apply map_ext_in. intros g I. rewrite Forall_forall in O. rewrite products_longer by auto.
    rewrite dot_longer by (rewrite len_products; auto; rewrite O by auto; lia). lra.
  - destruct O as [O _]. f_equal. apply E. intros [q e] Lq. simpl in *. unfold information. rewrite total_map. clear - O Lq. induction gs as [|G gs IH]; simpl; auto. inversion_clear O as [|? ? [LG _] O']. rewrite IH by auto.
    rewrite zsum_longer, dot_longer, relative_longer by lia. rewrite Rmult_0_l, Rplus_0_r. reflexivity.
  - f_equal. apply E. intros [q e] Lq. simpl in *. unfold chi_square. rewrite zsum_longer, dot_longer, squares_longer by lia. rewrite Rmult_0_l, Rplus_0_r. reflexivity.
Qed.
Lemma measure_longer u L : formed (alone u) -> Forall (fun p => length (fst p) = length (prior u)) L -> measure (wide u) (map longer L) = measure u (map fst L).
Proof. intros FM H. unfold measure, wide. cbn [prior aim]. apply worth_longer; auto. Qed.
Lemma ratios_to_in r x : forall W z0 a b s, In (a, b, s) (ratios_to r x z0 W) -> a = x /\ a <> b /\ (z0 <= b < z0 + zlen W)%Z /\ s = r.
Proof.
  induction W as [|w W IH]; intros z0 a b s; cbn [ratios_to zlen]; [intros []|]. assert (0 <= zlen W)%Z by (rewrite zlen_len; lia). destruct (Z.eqb_spec x z0).
  - intros I. destruct (IH _ _ _ _ I) as (A & B & C & D0). repeat split; auto; lia.
  - intros [I|I]. { injection I as <- <- <-. repeat split; auto; lia. } destruct (IH _ _ _ _ I) as (A & B & C & D0). repeat split; auto; lia.
Qed.
Lemma all_ratios_in r W : forall V x0 a b s, In (a, b, s) (all_ratios r x0 W V) -> (x0 <= a < x0 + zlen V)%Z /\ a <> b /\ (0 <= b < zlen W)%Z /\ s = r.
Proof.
  induction V as [|v V IH]; intros x0 a b s; cbn [all_ratios zlen]; [intros []|]. assert (0 <= zlen V)%Z by (rewrite zlen_len; lia). intros I. apply in_app_iff in I. destruct I as [I|I].
  - apply ratios_to_in in I. intuition; lia.
  - apply IH in I. intuition; lia.
Qed.
Lemma cone_longer W c q e : length q = length W -> inside (zlen W) c = true -> in_cone (length W) c q -> in_cone (length W + 1) (open_cone W c) (q ++ [e]).
Proof.
  rewrite zlen_len. intros L I H. destruct c as [|r|es|]; cbn [open_cone in_cone] in *; auto; [| |discriminate].
  - intros x z s J. apply all_ratios_in in J. rewrite zlen_len in J. destruct J as (A & B & C & ->). rewrite !entry_longer by lia. unfold entry. apply H; lia.
  - intros x z s J. cbn [inside] in I. rewrite forallb_forall in I. specialize (I _ J). simpl in I. rewrite !andb_true_iff, !Z.leb_le, !Z.ltb_lt in I. rewrite !entry_longer by lia. auto.
Qed.
Lemma forms_under_in u : forall ps cs, forms_under u ps = Some cs -> forall c, In c cs -> exists p, under u p = Some c.
Proof.
  induction ps as [|p ps IH]; intros cs E c I; cbn [forms_under] in E. { apply Some_inj in E. subst. destruct I. } destruct (under u p) as [c'|] eqn:U; [|discriminate]. destruct (forms_under u ps) as [l|]; [|discriminate].
  apply Some_inj in E. subst cs. destruct I as [->|I]; eauto.
Qed.
Lemma len_forms c : forall z, length (zscale z c) = length c. Proof. intros. apply map_length. Qed.
Lemma measure_sum u : formed (alone u) -> forall Q, measure u Q = total (fun q => measure u [q]) Q.
Proof.
  intros FM. induction Q as [|q Q IH]; [|rewrite measure_app, IH by auto; reflexivity]. pose proof (fO _ FM) as O. unfold measure, worth. simpl in *. destruct (aim u); [destruct O as (_ & O & _); congruence| | |]; unfold Rdiv; simpl; lra.
Qed.
Theorem lifted_ok co l co' Q : lifted co l = Some co' -> fits co Q -> exists Q', fits co' Q' /\ nets co' Q' = nets co Q.
Proof.
  unfold lifted. cbv zeta. intros E [[HM _] HL]. set (en := inner co) in *. set (pb := plain en) in *. set (W := weights pb) in *. destruct (nthz (fst l) (limits co)) as [[u [a b]]|] eqn:NT; [|discriminate].
  match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. apply andb_prop in C. destruct C as [C _]. split_and C. apply Z.ltb_lt in C0, C1.
  destruct (floors en) eqn:EF; [|discriminate]. destruct (bonus en) eqn:EB; [|discriminate]. destruct (forms_under u (snd l)) as [cs|] eqn:FU; [|discriminate]. apply Some_inj in E. subst co'.
  apply nthz_in in NT. rewrite forallb_forall in C4. rewrite Forall_forall in HL. assert (CV : forall v, convex_ok pb v = true -> formed (alone v) /\ length (prior v) = length W).
  { intros v V. unfold convex_ok in V. apply andb_prop in V. destruct V as [V1 V2]. split; [now apply well_formed_ok|now apply alike_len]. }
  destruct (CV u (C4 _ NT)) as [FU' LU]. specialize (HL _ NT) as HU. unfold within in HU. cbn [fst snd] in HU. apply well_formed_ok in C. destruct HM as (H1 & H2 & H3 & H4).
  assert (Q0 : exists q0 R0, Q = q0 :: R0). { destruct Q as [|q0 R0]; eauto. exfalso. pose proof (fT _ C) as T0. simpl in H2, T0. fold W in H2, T0. destruct W; simpl in *; [lia|]. injection H2 as H2 _. lra. } destruct Q0 as (q0 & R0 & ->).
  apply IZR_lt in C0, C1. set (f := fun q => measure u [q] * (IZR b / IZR a)). assert (r0 : 0 < IZR b / IZR a) by (apply Rdiv_lt_0_compat; auto).
  set (L := (q0, 1 - total f R0) :: map (fun q => (q, f q)) R0). assert (MF : map fst L = q0 :: R0). { simpl. rewrite map_map. simpl. now rewrite map_id. }
  assert (LL : Forall (fun p => length (fst p) = length W) L). { apply Forall_forall. intros p I. rewrite Forall_forall in H1. assert (J : In (fst p) (q0 :: R0)) by (rewrite <- MF; now apply in_map). destruct (H1 _ J) as (A & _). exact A. }
  assert (FP : forall q, In q (q0 :: R0) -> 0 <= f q). { intros q I. rewrite Forall_forall in H1. destruct (H1 q I) as (A & B & _). apply Rmult_le_pos; [|lra]. apply measure_pos; auto. fold W in A. lia. }
  assert (S1 : f q0 + total f R0 <= 1).
  { rewrite (measure_sum u FU') in HU. cbn [total] in HU. apply Rmult_le_compat_r with (r := IZR b / IZR a) in HU; [|lra]. replace (IZR a / IZR b * (IZR b / IZR a)) with 1 in HU by (field; lra).
    rewrite Rmult_plus_distr_r in HU. unfold f at 1. replace (total f R0) with (total (fun q => measure u [q]) R0 * (IZR b / IZR a)); auto. unfold f. clear. induction R0; simpl; [lra|]. rewrite <- IHR0. lra. }
  assert (PL : forall p, In p L -> In (fst p) (q0 :: R0) /\ f (fst p) <= snd p). { intros p [<-|I]. { simpl. split; auto. lra. } apply in_map_iff in I. destruct I as (q & <- & I). simpl. split; auto. lra. }
  exists (map longer L). assert (SL : total snd L = 1). { simpl. assert (total snd (map (fun q => (q, f q)) R0) = total f R0) by (rewrite total_map; reflexivity). lra. }
  split; [split|].
  - split; [|constructor]. cbn [plain inner]. split; [|split; [|split]]; cbn [weights base halfspaces outputs rows].
    + apply Forall_map, Forall_forall. intros p I. destruct (PL p I) as [J K]. rewrite Forall_forall in H1. destruct (H1 _ J) as (A & B & A3 & A4). destruct p as [q e]. cbn [fst snd] in *. fold W in A, A3.
      split. { cbn [weights]. rewrite !app_length. simpl. lia. } split. { apply Forall_app. split; auto. constructor; auto. pose proof (FP q J). lra. } split.
      * cbn [weights base]. rewrite app_length. simpl length. apply cone_longer; auto.
      * cbn [halfspaces]. pose proof (fH _ C) as HH. apply Forall_app. split; apply Forall_map, Forall_forall; intros c Ic.
        -- rewrite Forall_forall in A4, HH. rewrite dot_longer, Rmult_0_l, Rplus_0_r by (rewrite (HH c Ic); simpl; fold W; lia). auto.
        -- destruct (forms_under_in _ _ _ FU c Ic) as (pt & U). destruct (under_ok u pt c q FU' ltac:(lia) B U) as (U0 & LC & KC). apply IZR_lt in U0.
           rewrite dot_longer by (rewrite len_forms; lia). rewrite dot_scale, opp_IZR, mult_IZR. unfold f in K.
           assert (X : IZR (unit_of u) * measure u [q] * IZR b <= IZR a * IZR (unit_of u) * e).
           { apply Rmult_le_compat_l with (r := IZR a * IZR (unit_of u)) in K; [|nra]. replace (IZR a * IZR (unit_of u) * (measure u [q] * (IZR b / IZR a))) with (IZR (unit_of u) * measure u [q] * IZR b) in K by (field; lra). exact K. }
           apply Rmult_le_compat_r with (r := IZR b) in KC; lra.
    + rewrite app_length. simpl length. destruct (colsum_longer (length W) L LL) as [-> _]. rewrite MF, SL. fold W in H2. rewrite H2. rewrite repeat_app. reflexivity.
    + destruct (outputs pb); auto. rewrite map_length. rewrite <- H3, <- MF, map_length. reflexivity.
    + apply Forall_forall. intros rw I. rewrite Forall_forall in H4. specialize (H4 rw I). unfold holds in *. pose proof (fR _ C) as FR. cbn [rows emptied weights outputs] in FR. rewrite forallb_forall in FR. specialize (FR rw I).
      rewrite <- MF in H4. rewrite (form_longer _ _ L) with (2 := FR); auto. fold W. rewrite zlen_len. eapply Forall_impl; [|exact LL]. simpl. intros p Hp. lia.
  - cbn [limits]. apply Forall_map, Forall_forall. intros m I. unfold within. cbn [fst snd]. destruct (CV (fst m) (C4 _ I)) as [FM LM]. rewrite measure_longer by (auto; rewrite LM; auto). rewrite MF. apply (HL m I).
  - unfold nets. cbn [loss inner]. fold en. destruct (loss co) as [v|].
    + destruct (CV v C5) as [FM LM]. rewrite measure_longer by (auto; rewrite LM; auto). now rewrite MF.
    + apply well_formed_ok in C5. rewrite !earns_plain by auto. cbn [plain]. fold pb. rewrite <- MF. destruct pb as [W' aim b0 hs o rs] eqn:EP. apply worth_longer; auto.
Qed.
Theorem lifted_all_ok : forall ls co co' Q, lifted_all co ls = Some co' -> fits co Q -> exists Q', fits co' Q' /\ nets co' Q' = nets co Q.
Proof.
  induction ls as [|l ls IH]; intros co co' Q E F; cbn [lifted_all] in E. { apply Some_inj in E. subst. eauto. } destruct (lifted co l) as [c1|] eqn:R; [|discriminate].
  destruct (lifted_ok _ _ _ _ R F) as (Q1 & F1 & N1). destruct (IH _ _ _ E F1) as (Q2 & F2 & N2). exists Q2. split; auto. congruence.
Qed.
