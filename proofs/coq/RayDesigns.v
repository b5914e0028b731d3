(* Designs by the rays of cells: the energy of forms is convex and homogeneous in a column, so prices that pay for it at each ray of a cell
   pay for it on the cell. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant Rows Corners Designs Rays.
Import ListNotations.
Open Scope Z_scope.

(* ---- the check ---- *)
Inductive rdtoken := Cell (t : rtoken) | Formed (A L : list Z) (fs cs : list (list Z)).
Definition cutting (t : rtoken) := match t with Pay _ _ | Holds => false | _ => true end.
Definition forms_paid (T2 : Z) (W own : list Z) (fs : list (list Z)) (r : ray) : bool :=
  nonnegative (at_ r) && (T2 * zsum (map (fun f => zdot f (at_ r) * zdot f (at_ r)) fs) <=? zdot own (at_ r) * zdot W (at_ r)).
Fixpoint cells_paid (k y : Z) (W A : list Z) (t : trie Z) (fs : list (list Z)) (cells : list (list ray)) : bool := match cells with [] => true
  | rs :: cells => let T := zsum W in forallb (forms_paid (T * T) W (zscale T (merge (y * k) t A)) fs) rs && cells_paid k (y + 1) W A t fs cells end.
Definition rd_step (en : renv) (ds : design) (tok : rdtoken) (st : rstate) : option (list rstate) := let pb := rproblem en in let W := weights pb in match tok with
  | Cell t => if cutting t then rstep en t st else None
  | Formed A L fs cs => match (match each_cell en st, st with Some cells, _ => Some cells | None, Everywhere rs => Some [rs] | _, _ => None end) with None => None | Some cells =>
      match add_rows (zlen W) 1 (rows pb) L Tip 0 with None => None | Some (t, b) => match risk_below W ds (runit en) (zsum A + b) fs cs with None => None | Some (X, Y) =>
      if alike A W && forallb (fun f => alike f W) fs && (- X * snd (rclaim en) <=? fst (rclaim en) * Y) && cells_paid (zlen W) 0 W A t fs cells then Some [] else None end end end end.
Definition rd_advance (en : renv) (ds : design) (tok : rdtoken) (stack : list rstate) : option (list rstate) := match stack with
  | st :: stack => match rd_step en ds tok st with Some l => Some (l ++ stack) | None => None end | [] => None end.
Fixpoint rd_run (en : renv) (ds : design) (toks : list rdtoken) (stack : list rstate) : bool := match toks with
  | [] => match stack with [] => true | _ => false end
  | tok :: toks => match rd_advance en ds tok stack with Some stack => rd_run en ds toks stack | None => false end end.
(* Each weight is > 0: a column that is not 0 has then a share. *)
Definition rd_start mo ds (cl : Z * Z) (s : Z) (ratios : list (Z * Z)) : option (renv * list rstate) := let pb := emptied (plain (inner (middle mo))) in let W := weights pb in
  match edges_of (zlen W) (base pb) ratios with
  | Some es => if well_formed pb && design_ok W ds && forallb (Z.ltb 0) W && (0 <? s) && (0 <? snd cl) then Some (Renv pb s cl es, [Everywhere (orthant W)]) else None
  | None => None end.
Definition ray_designed mo ds cl s ratios toks : bool := match rd_start mo ds cl s ratios with Some (en, stack) => rd_run en ds toks stack | None => false end.
Close Scope Z_scope.
Open Scope R_scope.

(* ---- energies add up ---- *)
Lemma energy_add x y : 0 < x -> 0 < y -> forall fs u v, Forall (fun f => length f = length u) fs -> length u = length v -> squares_of fs (plus u v) / (x + y) <= squares_of fs u / x + squares_of fs v / y.
Proof.
  intros X Y fs u v LF L. assert (K : squares_of fs (plus u v) * (x * y) <= (squares_of fs u * y + squares_of fs v * x) * (x + y)).
  { unfold squares_of. induction LF as [|f fs LF1 LF IH]; simpl. { lra. } rewrite dot_plus by auto. set (a := dot f u) in *. set (b := dot f v) in *. pose proof (Rle_0_sqr (a * y - b * x)) as S. unfold Rsqr in S. nra. }
  assert (P : 0 < x * y * (x + y)) by (repeat apply Rmult_lt_0_compat; lra). apply (Rmult_le_reg_r (x * y * (x + y))); auto.
  replace (squares_of fs (plus u v) / (x + y) * (x * y * (x + y))) with (squares_of fs (plus u v) * (x * y)) by (field; lra).
  replace ((squares_of fs u / x + squares_of fs v / y) * (x * y * (x + y))) with ((squares_of fs u * y + squares_of fs v * x) * (x + y)) by (field; lra). auto.
Qed.
Section Energy.
Variable pb : problem.
Hypothesis FM : formed pb.
Notation W := (weights pb).
Notation T := (zsum W).
Hypothesis WP : Forall (Z.lt 0) W.
Definition held_d own fs v := length v = length W /\ Forall (Rle 0) v /\ quad pb fs v <= dot own v.
Lemma nothing_or_share v : length v = length W -> Forall (Rle 0) v -> Forall (eq 0) v \/ 0 < dot W v.
Proof. intros L N. destruct (Rlt_dec 0 (dot W v)); auto. left. apply (zero_entries W v WP N L). lra. Qed.
Lemma quad_zero fs v : Forall (eq 0) v -> quad pb fs v = 0.
Proof. intros Z0. unfold quad. replace (squares_of fs v) with 0. { unfold Rdiv. rewrite Rmult_0_r, Rmult_0_l. lra. } unfold squares_of. induction fs; simpl; auto. rewrite <- IHfs, (zero_all v Z0). lra. Qed.
Lemma quad_scale fs c v : 0 < c -> 0 < dot W v -> quad pb fs (scale c v) = c * quad pb fs v.
Proof.
  intros C P. unfold quad. rewrite dotR_scale. replace (squares_of fs (scale c v)) with (c * c * squares_of fs v). { field. split; lra. } unfold squares_of. rewrite <- total_mult. clear. induction fs; simpl; auto. rewrite IHfs, dotR_scale. ring.
Qed.
Lemma plus_nil : forall a b, Forall (eq 0) b -> length a = length b -> plus a b = a.
Proof. induction a; destruct b; simpl; intros H L; try discriminate; auto. inversion H; subst. rewrite IHa by (auto; lia). f_equal. lra. Qed.
Lemma spans_energy own fs RS v : length own = length W -> Forall (fun f => length f = length W) fs -> Forall (fun r => held_d own fs (reals r)) RS -> spans (length W) RS v -> held_d own fs v.
Proof.
  intros Lo LF F. rewrite Forall_forall in F. pose proof (fT pb FM) as HT. apply IZR_lt in HT. induction 1 as [v L Z0|r w v I W0 S (L & N & IH)].
  - split; auto. split. { eapply Forall_impl; [|exact Z0]. simpl. intros; lra. } rewrite quad_zero, zero_all by auto. lra.
  - destruct (F r I) as (Lr & Nr & K). assert (LS : length (scale w (reals r)) = length v) by (rewrite len_scaleR; lia). destruct (nothing_or_share (reals r) Lr Nr) as [Zr|Pr].
    { rewrite plus_zero_l by (auto; now apply scale_zero). repeat split; auto. }
    destruct W0 as [W0|<-]. 2: { rewrite plus_zero_l; auto. repeat split; auto. unfold scale. apply Forall_map, Forall_forall. intros; lra. }
    assert (NS : Forall (Rle 0) (scale w (reals r))) by (apply scale_pos; auto; lra). split. { rewrite len_plus; lia. } split. { apply plus_pos; auto. } rewrite dot_plus, dotR_scale by auto.
    assert (KS : quad pb fs (scale w (reals r)) <= w * dot own (reals r)). { rewrite quad_scale by auto. apply Rmult_le_compat_l; lra. } destruct (nothing_or_share v L N) as [Zv|Pv].
    { rewrite plus_nil by auto. rewrite (zero_all v Zv). lra. }
    assert (PS : 0 < dot W (scale w (reals r))). { rewrite dotR_scale. apply Rmult_lt_0_compat; auto. }
    pose proof (energy_add _ _ PS Pv fs (scale w (reals r)) v) as E. rewrite <- dot_plus in E by auto. specialize (E ltac:(eapply Forall_impl; [|exact LF]; simpl; intros; lia) LS). apply (Rmult_le_compat_l (IZR T * IZR T)) in E; [|nra].
    unfold quad in *. unfold Rdiv in *. rewrite Rmult_plus_distr_l in E. rewrite !Rmult_assoc in *. lra.
Qed.
Lemma forms_paid_ok own fs r : length (at_ r) = length W -> forms_paid (T * T) W own fs r = true -> held_d own fs (reals (at_ r)).
Proof.
  unfold forms_paid. intros L H. apply andb_prop in H. destruct H as [N H]. apply nonneg_all in N. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H. rewrite <- !dot_reals in H.
  assert (Lr : length (reals (at_ r)) = length W) by (unfold reals; now rewrite map_length). assert (Nr : Forall (Rle 0) (reals (at_ r))). { unfold reals. apply Forall_map. eapply Forall_impl; [|exact N]. simpl. intros a I. now apply IZR_le. }
  split; auto. split; auto. destruct (nothing_or_share _ Lr Nr) as [Z0|P]. { rewrite quad_zero, zero_all by auto. lra. }
  assert (S : IZR (zsum (map (fun f => (zdot f (at_ r) * zdot f (at_ r))%Z) fs)) = squares_of fs (reals (at_ r))). { unfold squares_of. clear. induction fs; simpl; auto. rewrite plus_IZR, IHfs, mult_IZR, dot_reals. lra. } rewrite S in H.
  unfold quad. apply (Rmult_le_reg_r (dot W (reals (at_ r)))); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
End Energy.
Section Whole.
Variables (pb : problem) (ds : design) (s : Z) (cl : Z * Z) (es : table).
Notation W := (weights pb).
Notation T := (zsum W).
Notation k := (zlen W).
Hypothesis FM : formed pb.
Hypothesis WP : Forall (Z.lt 0) W.
Hypothesis Hs : (0 < s)%Z.
Hypothesis HM : (0 < snd cl)%Z.
Hypothesis DO : design_ok W ds = true.
Variable Q : list (list R).
Hypothesis HQ : mechanism pb Q.
Hypothesis ES : forall q, column pb q -> edges_hold es q.
Notation en := (Renv pb s cl es).
Definition claimed := forall t, risk_at_most W ds Q t -> - t <= IZR (fst cl) / IZR (snd cl).
Notation good := (good_r pb s Q claimed).
Lemma energies_paid A t fs : length A = length W -> Forall (fun f => length f = length W) fs -> forall l cells css y, Forall2 (sound_cell (length W)) css cells -> Forall2 (inside_cell (length W)) css l -> Forall (column pb) l ->
  cells_paid k y W A t fs cells = true -> total (quad pb fs) l <= IZR T * (total (dot A) l + mdot k y t l).
Proof.
  intros LA LF. induction l as [|q l IH]; intros cells css y HS HI HC H; inversion HI as [|cs ? css' ? I1 I2]; subst; inversion HS as [|? rs ? cells' S1 S2]; subst; cbn [total mdot]. { lra. }
  inversion HC as [|? ? C1 C2]; subst. cbn [cells_paid] in H. apply andb_prop in H. destruct H as [H1 H2]. specialize (IH _ _ _ S2 I2 C2 H2).
  assert (K : held_d pb (zscale T (merge (y * k) t A)) fs q).
  { destruct S1 as [_ SR SS]. apply (spans_energy pb FM WP _ fs (map at_ rs)); auto. { now rewrite len_scale, len_merge. } rewrite Forall_map. rewrite forallb_forall in H1. apply Forall_forall. rewrite Forall_forall in SR. intros r Ir. apply forms_paid_ok; auto. apply (SR r Ir). }
  destruct K as (_ & _ & K). rewrite dot_scale, dot_merge in K by (destruct C1 as (L & _); lia). lra.
Qed.
Lemma rd_step_ok tok st l : rd_step en ds tok st = Some l -> Forall good l -> good st.
Proof.
  intros H GL. destruct tok as [t|A L fs cs]; cbn [rd_step rproblem runit rclaim] in H.
  - destruct (cutting t) eqn:CT; [|discriminate]. eapply (cuts_ok_r pb s cl es FM Q HQ ES claimed t); eauto. destruct t; cbn; auto; discriminate.
  - cbv zeta in H. destruct (match each_cell en st, st with Some cells, _ => Some cells | None, Everywhere rs => Some [rs] | _, _ => None end) as [cells|] eqn:EC; [|discriminate].
    destruct (add_rows k 1 (rows pb) L Tip 0) as [[t b]|] eqn:R0; [|discriminate]. destruct (risk_below W ds s (zsum A + b) fs cs) as [[X Y]|] eqn:RB; [|discriminate].
    match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end. clear H GL. split_and C. apply alike_len in C. apply Z.leb_le in C1. rename C into LA, C0 into CP, C1 into CL, C2 into LF0.
    assert (LF : Forall (fun f => length f = length W) fs). { rewrite forallb_forall in LF0. apply Forall_forall. intros f I. apply alike_len. auto. } pose proof HQ as (HC & _).
    assert (PQ : Forall (fun q => Forall (eq 0) q \/ 0 < dot W q) Q). { eapply Forall_impl; [|exact HC]. intros q (Lq & Nq & _). apply (nothing_or_share pb WP); auto. }
    assert (EQ : map fst (map (fun q : list R => (q, q)) Q) = Q) by (rewrite map_map; apply map_id).
    assert (PAID : total (quad pb fs) Q <= IZR T * (total (dot A) Q + mdot k 0 t Q) -> claimed).
    { pose proof (paid_risk pb ds s cl) as P. unfold reached_d in P. specialize (P FM Hs HM DO (map (fun q : list R => (q, q)) Q)). rewrite EQ in P. intros K t0 HR. apply (P HQ A L fs cs t b X Y LA LF PQ R0 RB CL K t0 HR). }
    assert (EA : good (Each cells) -> each_cell en st = Some cells -> good st) by (intros; eapply (each_ok pb s cl es Q HQ claimed); eauto).
    destruct (each_cell en st) as [cells'|] eqn:EE.
    + apply Some_inj in EC. subst cells'. apply EA; auto. intros css S F. apply PAID. eapply energies_paid; eauto.
    + destruct st as [rs|cells'|own rs]; try discriminate. apply Some_inj in EC. subst cells. cbn [good_r]. intros cs' S F. apply PAID. cbn [each_cell rproblem] in EE. pose proof (fM pb FM) as RW. destruct (outputs pb); [discriminate|]. rewrite RW in R0. destruct L; [|discriminate]. apply Some_inj in R0. injection R0 as <- <-.
      cbn [cells_paid] in CP. rewrite andb_true_r, (merge_nothing A) in CP. rewrite mdot_tip. clear - FM WP LA LF S F HC CP. induction F as [|q Q' I F IH]; simpl; [lra|]. inversion HC as [|? ? C1 C2]; subst. specialize (IH C2).
      assert (K : held_d pb (zscale T A) fs q).
      { destruct S as [_ SR SS]. apply (spans_energy pb FM WP _ fs (map at_ rs)); auto. { now rewrite len_scale. } rewrite Forall_map. rewrite forallb_forall in CP. apply Forall_forall. rewrite Forall_forall in SR. intros r Ir. apply forms_paid_ok; auto. apply (SR r Ir). }
      destruct K as (_ & _ & K). rewrite dot_scale in K. lra.
Qed.
Lemma rd_run_ok : forall toks stack, rd_run en ds toks stack = true -> Forall good stack.
Proof.
  induction toks as [|tok toks IH]; intros [|st stack] K; simpl in K; try discriminate; auto. destruct (rd_step en ds tok st) as [l|] eqn:SP; [|discriminate]. apply IH in K. apply Forall_app in K. destruct K. constructor; auto. eapply rd_step_ok; eauto.
Qed.
End Whole.
Theorem ray_designed_sound mo ds N M s ratios toks : ray_designed mo ds (N, M) s ratios toks = true -> forall Q, obeys mo Q -> forall t, risk_at_most (weights (plain (inner (middle mo)))) ds Q t -> - t <= IZR N / IZR M.
Proof.
  unfold ray_designed, rd_start. cbv zeta. intros H Q O. set (pb := emptied (plain (inner (middle mo)))) in *. destruct (edges_of _ (base pb) ratios) as [es|] eqn:ES; [|discriminate].
  match type of H with match (if ?x then _ else _) with _ => _ end = _ => destruct x eqn:C; [|discriminate] end. split_and C. apply well_formed_ok in C. apply Z.ltb_lt in C0, C1. rename C2 into WP0, C3 into DO.
  assert (WP : Forall (Z.lt 0) (weights pb)). { rewrite forallb_forall in WP0. apply Forall_forall. intros w I. apply Z.ltb_lt. auto. }
  destruct O as ([[HQ _] _] & _). assert (HQ' : mechanism pb Q) by exact HQ. assert (EH : forall q, column pb q -> edges_hold es q). { intros q (L & N0 & I & _). rewrite zlen_len, <- L in ES. rewrite <- L in I. eapply edges_of_ok; eauto. }
  apply (rd_run_ok pb ds s (N, M) es C WP C1 C0 DO Q HQ' EH) in H. apply Forall_inv in H. apply (H _ (orthant_ok (weights pb))). pose proof HQ' as (HC & _). eapply Forall_impl; [|exact HC]. intros q (L & N0 & _). split; auto. apply Forall_forall. intros c I.
  apply in_sides in I. destruct I as (x & Hx & ->). rewrite dot_side by (auto; lia). pose proof (entry_nonneg q x N0). lra.
Qed.
