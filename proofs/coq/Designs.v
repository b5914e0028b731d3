(* Risks of estimation: what the best unbiased estimators have as variances. The first part says what is claimed. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant Rows Corners.
Import ListNotations.
Open Scope R_scope.

(* ---- what is claimed: with p = W / T and M the sum of q q' / p.q over the columns, w' M w is the energy of w ---- *)
Definition energy W Q w := total (fun q => weighed_sum w q * weighed_sum w q / (dot W q / IZR (zsum W))) Q.
Fixpoint diagonal (i : nat) (ws : list (list R)) : list R := match ws with [] => [] | w :: ws => nth i w 0 :: diagonal (S i) ws end.
(* The trace: sum over the queries c of c' M^-1 c - (c.p)^2. The eigenvalue: the largest of M^-1 - p p'. The determinant: log det M^-1.
   Each is the largest of 2 c.w - w' M w, and so on: a number is at least it if it is at least all of these. *)
Inductive design := Trace (den : Z) (queries : list (list Z)) | Eigenvalue | Determinant.
Definition excess_of W Q c w := 2 * weighed_sum c w - energy W Q w - (dot W c / IZR (zsum W)) * (dot W c / IZR (zsum W)).
Fixpoint excesses_of W Q cs ws := match cs, ws with c :: cs, w :: ws => excess_of W Q c w + excesses_of W Q cs ws | _, _ => 0 end.
Definition over_den (den : Z) (c : list Z) := map (fun n => IZR n / IZR den) c.
Definition risk_at_most W (ds : design) Q t := let sized (w : list R) := length w = length W in match ds with
  | Trace den cs => forall ws, length ws = length cs -> Forall sized ws -> excesses_of W Q (map (over_den den) cs) ws <= t
  | Eigenvalue => forall c w, sized c -> sized w -> excess_of W Q c w <= t * weighed_sum c c
  | Determinant => forall ws, length ws = length W -> Forall sized ws -> (forall i j, (i < j)%nat -> nth j (nth i ws []) 0 = 0) -> Forall (Rlt 0) (diagonal 0 ws) ->
      INR (length W) + 2 * sum (map ln (diagonal 0 ws)) - total (energy W Q) ws <= t end.

(* ---- the check ---- *)
Open Scope Z_scope.
(* gone: one of the other entries is 1, and these are above 1. *)
Record lone := Lone { due : list Z; quads : list (list Z); room : list ent; gone : option (list Z) }.
Inductive dstate := All (boxes : list (list ent)) | Alone (p : lone).
Inductive dtoken := Plainly (t : token) | Forms (A L : list Z) (fs cs : list (list Z)).
Record denv := Denv { dproblem : problem; ddesign : design; dunit : Z; dclaim : Z * Z }.
Definition edge_of (b : list ent) (upper : bool) q := let O := zeros q in if upper then endsum O q b else match endsum O (zscale (-1) q) b with Some r => Some (- r) | None => None end.
(* Lines above T^2 y^2, y = f.v. *)
Fixpoint chords (T2 : Z) (b : list ent) (W : list Z) (fs : list (list Z)) : option (list Z * Z) := match fs with [] => Some (zeros W, 0)
  | f :: fs => match edge_of b false f, edge_of b true f, chords T2 b W fs with
      | Some l, Some u, Some (q, c) => Some (zplus (zscale (T2 * (l + u)) f) q, c - T2 * (l * u)) | _, _, _ => None end end.
Definition quad_leaf (W : list Z) (fs : list (list Z)) (q : list Z) (b : list ent) (upper : bool) : bool := let T := zsum W in
  match edge_of b upper W, edge_of b upper q, chords (T * T) b W fs with
  | Some w, Some s, Some (r, c) => match endsum (zeros W) (zscale D (zplus r (zplus (zscale (- w) q) (zscale (- s) W)))) b with Some r => (c + w * s) * D + r <=? 0 | None => false end
  | _, _, _ => false end.
Fixpoint zdots (a b : list (list Z)) : Z := match a, b with c :: a, f :: b => zdot c f + zdots a b | _, _ => 0 end.
Fixpoint corner_logs (s i : Z) (fs : list (list Z)) : option Z := match fs with [] => Some 0
  | f :: fs => match nthz i f with None => None | Some n => match log_below n s, corner_logs s (i + 1) fs with Some l, Some r => Some (l + r) | _, _ => None end end end.
Fixpoint ends_by (i : Z) (f : list Z) : bool := match f with [] => true | n :: f => ((0 <=? i) || (n =? 0)) && ends_by (i - 1) f end.
Fixpoint triangular (i : Z) (fs : list (list Z)) : bool := match fs with [] => true | f :: fs => ends_by i f && triangular (i + 1) fs end.
(* At most the risk, as X over Y, of forms and factors over s, whose energies sum to at most S / s^2. *)
Definition risk_below W (ds : design) (s S : Z) (fs cs : list (list Z)) : option (Z * Z) := let T := zsum W in let T2 := T * T in match ds with
  | Trace den qs => match cs with [] => if (zlen fs =? zlen qs) then Some (2 * den * s * T2 * zdots qs fs - s * s * zsum (map (fun c => zdot W c * zdot W c) qs) - den * den * T2 * S, den * den * s * s * T2) else None | _ => None end
  | Eigenvalue => if (zlen fs =? zlen cs) && forallb (fun c => alike c W) cs && (0 <? zdots cs cs) then Some (2 * T2 * zdots cs fs - zsum (map (fun c => zdot W c * zdot W c) cs) - T2 * S, T2 * zdots cs cs) else None
  | Determinant => match cs, corner_logs s 0 fs with [], Some l => if (zlen fs =? zlen W) && triangular 0 fs then Some (zlen W * D * s * s + 2 * s * s * l - D * S, D * s * s) else None | _, _ => None end end.
Fixpoint formed_states (k y : Z) (T : Z) (A : list Z) (t : trie Z) (fs : list (list Z)) (bs : list (list ent)) : list dstate := match bs with [] => []
  | b :: bs => let b := tight 0 b in let l := formed_states k (y + 1) T A t fs bs in if shut b then l else Alone (Lone (zscale T (merge (y * k) t A)) fs b (Some [])) :: l end.
Fixpoint may_be_one (i : Z) (l : list Z) (b : list ent) : bool := match b with [] => false | e :: b => ((low e <=? D) && negb (existsb (Z.eqb i) l)) || may_be_one (i + 1) l b end.
Definition dstep (de : denv) (tok : dtoken) (st : dstate) : option (list dstate) := let pb := dproblem de in let W := weights pb in match st, tok with
  | All bs, Plainly (Split y x c) => match nthz y bs, outputs pb with
      | Some b, Some _ => match nthz x b with Some _ => if 0 <=? c then Some [All (updz y (updz x (cap c 0)) bs); All (updz y (updz x (lift_ c 0)) bs)] else None | None => None end | _, _ => None end
  | All bs, Forms A L fs cs => match add_rows (zlen W) 1 (rows pb) L Tip 0 with None => None | Some (t, b) =>
      match risk_below W (ddesign de) (dunit de) (zsum A + b) fs cs with None => None | Some (X, Y) =>
      if alike A W && forallb (fun f => alike f W) fs && (- X * snd (dclaim de) <=? fst (dclaim de) * Y) then Some (formed_states (zlen W) 0 (zsum W) A t fs bs) else None end end
  | Alone p, Plainly (Split y x c) => match nthz x (room p) with
      | Some _ => if (y =? 0) && (0 <=? c) then Some [Alone (Lone (due p) (quads p) (updz x (cap c 0) (room p)) (gone p));
          Alone (Lone (due p) (quads p) (updz x (lift_ c 0) (room p)) (match gone p with Some l => Some (if D <=? c then x :: l else l) | None => None end))] else None | None => None end
  | Alone p, Plainly (Fix x) => match nthz x (room p) with
      | Some e => match high e with
          | Some (h, q) => if D <=? low e then let now e := Alone (Lone (due p) (quads p) (updz x (fun _ => e) (room p)) None) in
              Some [now (Ent h q (Some (h, q))); now (Ent (low e) (plow e) (Some (low e, plow e)))] else None
          | None => None end
      | None => None end
  | Alone p, Plainly (Leaf [] (Mult [] [] [])) => if match gone p with Some l => negb (may_be_one 0 l (room p)) | None => false end || quad_leaf W (quads p) (due p) (room p) true || quad_leaf W (quads p) (due p) (room p) false then Some [] else None
  | _, _ => None end.
Definition des_advance (de : denv) (tok : dtoken) (stack : list dstate) : option (list dstate) := match stack with
  | st :: stack => match dstep de tok st with Some l => Some (l ++ stack) | None => None end | [] => None end.
Fixpoint des_run (de : denv) (toks : list dtoken) (stack : list dstate) : bool := match toks with
  | [] => match stack with [] => true | _ => false end
  | tok :: toks => match des_advance de tok stack with Some stack => des_run de toks stack | None => false end end.
Definition design_ok (W : list Z) ds := match ds with Trace den qs => (0 <? den) && forallb (fun c => alike c W) qs | _ => true end.
(* s: what forms are over; prices are over s^2. Where outputs are free, one column stands for all: there are no rows. Other constraints are left out. *)
Definition des_start mo ds (cl : Z * Z) (s : Z) (ratios : list (Z * Z)) : option (denv * list dstate) := let pb := emptied (plain (inner (middle mo))) in let W := weights pb in
  match base pb, ratios with
  | Complete r, [(G, h)] => if well_formed pb && design_ok W ds && (0 <? s) && (0 <? snd cl) && at_least r G h && (h =? D) && (D <=? G) then
      Some (Denv pb ds s cl, [All (numbers (match outputs pb with Some m => m | None => 1 end) (fun _ => map (fun _ => Ent D 0 (Some (G, 0))) W))]) else None
  | _, _ => None end.
Close Scope Z_scope.

(* ---- limits of forms ---- *)
Lemma edge_of_ok b v q r : ok_box Plain b v -> length q = length v -> (edge_of b true q = Some r -> dot q v <= IZR r * d) /\ (edge_of b false q = Some r -> IZR r * d <= dot q v).
Proof.
  intros B L. pose proof d_pos as dp. assert (K : forall q r, length q = length v -> endsum (zeros q) q b = Some r -> dot q v <= IZR r * d).
  { intros q' r' L' F. apply (endsum_ok Plain (zeros q') q' b v r' (zeros_nonneg q')) in F; auto; [|rewrite len_zeros; auto]. rewrite zphi_zeros in F. apply (Rmult_le_reg_r (d * d)); [nra|]. lra. }
  unfold edge_of. split; intros H; auto. destruct (endsum (zeros q) (zscale (-1) q) b) as [r'|] eqn:F; [|discriminate]. apply Some_inj in H. subst r.
  replace (zeros q) with (zeros (zscale (-1) q)) in F by (unfold zeros, zscale; apply map_map). apply K in F; [|rewrite len_scale; auto]. rewrite dot_scale in F. rewrite opp_IZR. lra.
Qed.
Definition squares_of (fs : list (list Z)) v := total (fun f => dot f v * dot f v) fs.
Lemma chords_ok T2 b v (W : list Z) : (0 <= T2)%Z -> ok_box Plain b v -> length W = length v -> forall fs q c, Forall (fun f => length f = length v) fs -> chords T2 b W fs = Some (q, c) ->
  length q = length v /\ IZR T2 * squares_of fs v <= dot q v * d + IZR c * d * d.
Proof.
  intros H2 B LW. apply IZR_le in H2. induction fs as [|f fs IH]; cbn [chords]; intros q c LF H. { apply Some_inj in H. injection H as <- <-. split. now rewrite len_zeros. unfold squares_of. simpl. rewrite dot_zeros. lra. }
  inversion LF as [|? ? L1 L2]; subst. destruct (edge_of b false f) as [l|] eqn:E1; [|discriminate]. destruct (edge_of b true f) as [u|] eqn:E2; [|discriminate]. destruct (chords T2 b W fs) as [[q0 c0]|]; [|discriminate].
  apply Some_inj in H. injection H as <- <-. destruct (IH _ _ L2 eq_refl) as [L3 K]. apply (edge_of_ok b v) in E1, E2; auto. assert (LL : length (zscale (T2 * (l + u)) f) = length q0) by (rewrite len_scale; lia).
  split. { rewrite len_zplus; rewrite ?len_scale; lia. } rewrite dot_zplus, dot_scale, minus_IZR, !mult_IZR, plus_IZR by auto. unfold squares_of in *. cbn [total].
  assert (P : 0 <= (dot f v - IZR l * d) * (IZR u * d - dot f v)) by nra. apply (Rmult_le_compat_l (IZR T2)) in P; auto. lra.
Qed.
Lemma fix_box kd c pc : phi kd (vd c) <= IZR pc * d * d -> (0 <= c)%Z -> forall b v, ok_box kd b v -> forall x, (0 <= x)%Z -> ok_box kd (updz x (fun _ => Ent c pc (Some (c, pc))) b) (updz x (fun _ => vd c) v).
Proof. intros PC C0. induction 1 as [|e y b v O B IH]; intros x X0; simpl; [constructor|]. destruct (Z.eqb_spec x 0); constructor; auto. - repeat split; simpl; auto; lra. - apply IH. lia. Qed.
Lemma may_ok kd b v : ok_box kd b v -> forall i l, Exists (eq 1) v -> Forall (fun x => (i <= x)%Z -> 1 < entry (x - i) v) l -> may_be_one i l b = true.
Proof.
  induction 1 as [|e y b v (A & B & _) H IH]; intros i l X F; inversion X as [? ? E|? ? E]; subst; cbn [may_be_one]; apply orb_true_iff.
  - left. apply andb_true_iff. split. { apply Z.leb_le. destruct (Z.le_gt_cases (low e) D) as [|L]; auto. assert (L' : (D < low e)%Z) by lia. apply vd_lt in L'. rewrite vdD in L'. lra. }
    apply negb_true_iff. destruct (existsb (Z.eqb i) l) eqn:EX; auto. apply existsb_exists in EX. destruct EX as (x & I & EI). apply Z.eqb_eq in EI. subst x. rewrite Forall_forall in F. specialize (F i I (Z.le_refl i)). rewrite Z.sub_diag in F. unfold entry in F. simpl in F. lra.
  - right. apply IH; auto. eapply Forall_impl; [|exact F]. simpl. intros x K J. specialize (K ltac:(lia)). unfold entry in *. replace (Z.to_nat (x - i)) with (Datatypes.S (Z.to_nat (x - (i + 1)))) in K by lia. exact K.
Qed.
Section Lone.
Variable pb : problem.
Hypothesis FM : formed pb.
Notation W := (weights pb).
Notation T := (zsum W).
Definition quad fs v := IZR T * IZR T * squares_of fs v / dot W v.
Lemma weight_one v : length v = length W -> Forall (Rle 1) v -> 0 < IZR T /\ IZR T <= dot W v.
Proof. intros L V. pose proof (fT pb FM) as HT. apply IZR_lt in HT. split; auto. rewrite <- (Rmult_1_l (IZR T)). apply dot_above; auto. apply FM. lra. Qed.
Lemma quad_leaf_ok fs q b up v : quad_leaf W fs q b up = true -> length q = length W -> Forall (fun f => length f = length W) fs -> length v = length W -> Forall (Rle 1) v -> ok_box Plain b v -> quad fs v <= dot q v.
Proof.
  unfold quad_leaf. cbv zeta. intros H Lq LF Lv V B. destruct (weight_one v Lv V) as [HT W1]. pose proof d_pos as dp.
  destruct (edge_of b up W) as [w|] eqn:EW; [|discriminate]. destruct (edge_of b up q) as [s|] eqn:ES; [|discriminate]. destruct (chords (T * T) b W fs) as [[r c]|] eqn:CH; [|discriminate].
  destruct (endsum _ _ b) as [R0|] eqn:F in H; [|discriminate]. apply Z.leb_le in H. apply (chords_ok (T * T) b v W) in CH; auto; [|apply lt_IZR in HT; nia|eapply Forall_impl; [|exact LF]; simpl; intros; lia]. destruct CH as [Lr K].
  assert (L1 : length (zscale (- w) q) = length (zscale (- s) W)) by (rewrite !len_scale; lia). assert (L2 : length r = length (zplus (zscale (- w) q) (zscale (- s) W))) by (rewrite len_zplus; rewrite ?len_scale; lia).
  apply (endsum_ok Plain (zeros W) _ b v R0 (zeros_nonneg W)) in F; auto; [|rewrite len_zeros; auto|rewrite len_scale, len_zplus; lia].
  rewrite zphi_zeros, dot_scale, !dot_zplus, !dot_scale, !opp_IZR in F by auto. fold DR in F. apply d3_mono in H. rewrite plus_IZR, mult_IZR, plus_IZR, mult_IZR in H. fold DR in H.
  assert (P : 0 <= (dot W v - IZR w * d) * (dot q v - IZR s * d)).
  { destruct (edge_of_ok b v W w B ltac:(lia)) as [A1 A2]. destruct (edge_of_ok b v q s B ltac:(lia)) as [A3 A4]. destruct up.
    - specialize (A1 EW). specialize (A3 ES). replace ((dot W v - IZR w * d) * (dot q v - IZR s * d)) with ((IZR w * d - dot W v) * (IZR s * d - dot q v)) by ring. apply Rmult_le_pos; lra.
    - specialize (A2 EW). specialize (A4 ES). apply Rmult_le_pos; lra. }
  replace (DR * (dot r v + (- IZR w * dot q v + - IZR s * dot W v)) * d * d) with ((DR * d) * d * (dot r v - IZR w * dot q v - IZR s * dot W v)) in F by ring.
  replace (((IZR c + IZR w * IZR s) * DR + IZR R0) * d * d * d) with ((IZR c + IZR w * IZR s) * (DR * d) * d * d + IZR R0 * d * d * d) in H by ring. rewrite DRd in F, H. rewrite mult_IZR in K.
  unfold quad. apply (Rmult_le_reg_r (dot W v)); [lra|]. replace (IZR T * IZR T * squares_of fs v / dot W v * dot W v) with (IZR T * IZR T * squares_of fs v) by (field; lra). nra.
Qed.
Lemma quad_support fs l1 l2 y : Forall (fun f => length f = length W) fs -> length (l1 ++ y :: l2) = length W -> Forall (Rle 1) l1 -> Forall (Rle 1) l2 -> 1 <= y ->
  exists s, forall u, 1 <= u -> quad fs (l1 ++ y :: l2) + s * (u - y) <= quad fs (l1 ++ u :: l2).
Proof.
  intros LF L V1 V2 Hy. destruct (dot_mid W l1 l2) as (c & p & WE).
  assert (WP : forall u, 1 <= u -> 0 < c + p * u). { intros u Hu. rewrite <- WE. destruct (weight_one (l1 ++ u :: l2)) as [A B]; [rewrite app_length in *; simpl in *; lia|apply Forall_app; split; auto|lra]. }
  unfold quad, squares_of. clear LF. induction fs as [|f fs IH]; cbn [total]. { exists 0. intros u Hu. unfold Rdiv. rewrite !Rmult_0_r, !Rmult_0_l. lra. }
  destruct IH as (s & IH). destruct (dot_mid f l1 l2) as (a & b & FE). set (x := c + p * y) in *. set (r := (a + b * y) / x). pose proof (WP y Hy) as x0. fold x in x0.
  exists (s + IZR T * IZR T * (2 * r * b - r * r * p)). intros u Hu. specialize (IH u Hu). pose proof (WP u Hu) as X0. rewrite !WE in IH |- *. fold x in IH |- *. rewrite !FE.
  assert (K : (a + b * y) * (a + b * y) / x + (2 * r * b - r * r * p) * (u - y) <= (a + b * u) * (a + b * u) / (c + p * u)).
  { apply (Rmult_le_reg_r (c + p * u)); auto. replace ((a + b * u) * (a + b * u) / (c + p * u) * (c + p * u)) with ((a + b * u) * (a + b * u)) by (field; lra).
    assert (E1 : (a + b * y) * (a + b * y) / x + (2 * r * b - r * r * p) * (u - y) = 2 * r * (a + b * u) - r * r * (c + p * u)).
    { unfold r, x. field. fold x. lra. } rewrite E1. pose proof (Rle_0_sqr (a + b * u - r * (c + p * u))) as S. unfold Rsqr in S. lra. }
  apply (Rmult_le_compat_l (IZR T * IZR T)) in K; [|apply Rle_0_sqr]. set (X := c + p * u) in *. set (S0 := total (fun f => dot f (l1 ++ y :: l2) * dot f (l1 ++ y :: l2)) fs) in *. set (S1 := total (fun f => dot f (l1 ++ u :: l2) * dot f (l1 ++ u :: l2)) fs) in *.
  replace (IZR T * IZR T * ((a + b * y) * (a + b * y) + S0) / x) with (IZR T * IZR T * ((a + b * y) * (a + b * y) / x) + IZR T * IZR T * S0 / x) by (field; lra).
  replace (IZR T * IZR T * ((a + b * u) * (a + b * u) + S1) / X) with (IZR T * IZR T * ((a + b * u) * (a + b * u) / X) + IZR T * IZR T * S1 / X) by (field; lra). lra.
Qed.
Definition good_lone p := length (due p) = length W -> Forall (fun f => length f = length W) (quads p) -> forall v, length v = length W -> Forall (Rle 1) v -> ok_box Plain (room p) v ->
  (forall l, gone p = Some l -> Exists (eq 1) v /\ Forall (fun x => 1 < entry x v) l) -> quad (quads p) v <= dot (due p) v.
Lemma fix_ok p x e h q : nthz x (room p) = Some e -> high e = Some (h, q) -> (D <= low e)%Z ->
  let now e := Lone (due p) (quads p) (updz x (fun _ => e) (room p)) None in good_lone (now (Ent h q (Some (h, q)))) -> good_lone (now (Ent (low e) (plow e) (Some (low e, plow e)))) -> good_lone p.
Proof.
  intros NX HI LO now G1 G2 Ld LF v Lv V B _. destruct (box_entry _ _ _ _ _ B NX) as (O & X0 & NV). pose proof O as (O1 & O2 & O3 & O4). rewrite HI in O4. destruct O4 as [O4 O5].
  destruct (updz_split v x (entry x v) NV) as (l1 & l2 & EV & UV). apply vd_mono in LO. rewrite vdD in LO. pose proof V as V2. rewrite EV in V2. apply Forall_app in V2. destruct V2 as [V3 V4]. inversion V4 as [|? ? V5 V6]; subst.
  assert (K : forall c pc, (0 <= c)%Z -> 1 <= vd c -> good_lone (now (Ent c pc (Some (c, pc)))) -> phi Plain (vd c) <= IZR pc * d * d -> quad (quads p) (l1 ++ vd c :: l2) - dot (due p) (l1 ++ vd c :: l2) <= 0).
  { intros c pc C0 C1 GG PC. rewrite <- UV. assert (J : quad (quads p) (updz x (fun _ => vd c) v) <= dot (due p) (updz x (fun _ => vd c) v)); [|lra]. apply GG; auto.
    - rewrite len_updz. auto. - rewrite UV. apply Forall_app. split; auto.
    - apply fix_box; auto.
    - discriminate. }
  assert (LE : length (l1 ++ entry x v :: l2) = length W) by (rewrite <- EV; auto). destruct (quad_support (quads p) l1 l2 (entry x v) LF LE V3 V6 V5) as (s & S). destruct (dot_mid (due p) l1 l2) as (oc & oa & OE).
  assert (EE : quad (quads p) (l1 ++ entry x v :: l2) - dot (due p) (l1 ++ entry x v :: l2) <= Rmax (quad (quads p) (l1 ++ vd (low e) :: l2) - dot (due p) (l1 ++ vd (low e) :: l2)) (quad (quads p) (l1 ++ vd h :: l2) - dot (due p) (l1 ++ vd h :: l2))).
  { apply (ends_of (fun u => quad (quads p) (l1 ++ u :: l2) - dot (due p) (l1 ++ u :: l2))); [lra|]. exists (s - oa). rewrite !OE. pose proof (S (vd (low e)) ltac:(lra)). pose proof (S (vd h) ltac:(lra)). lra. }
  rewrite <- EV in EE. assert (M : Rmax (quad (quads p) (l1 ++ vd (low e) :: l2) - dot (due p) (l1 ++ vd (low e) :: l2)) (quad (quads p) (l1 ++ vd h :: l2) - dot (due p) (l1 ++ vd h :: l2)) <= 0); [|lra].
  apply Rmax_lub. apply (K (low e) (plow e)); auto. apply (K h q); auto. { destruct (Z.le_gt_cases 0 h) as [|N0]; auto. assert (N1 : (h < 0)%Z) by lia. apply vd_lt in N1. unfold vd at 2 in N1. lra. } lra.
Qed.
End Lone.

(* ---- energies ---- *)
Lemma over_weighed a b : forall c f, weighed_sum (over_den a c) (over_den b f) = IZR (zdot c f) * (/ IZR a * / IZR b).
Proof. induction c as [|n c IH]; intros [|m f]; simpl; try lra. rewrite IH, plus_IZR, mult_IZR. unfold Rdiv. ring. Qed.
Lemma over_real b : forall f q, weighed_sum (over_den b f) q = dot f q * / IZR b.
Proof. induction f as [|n f IH]; intros [|y q]; simpl; try lra. rewrite IH. unfold Rdiv. ring. Qed.
Lemma over_dot b : forall W f, dot W (over_den b f) = IZR (zdot W f) * / IZR b.
Proof. induction W as [|w W IH]; intros [|n f]; simpl; try lra. rewrite IH, plus_IZR, mult_IZR. unfold Rdiv. ring. Qed.
Section Risk.
Variable pb : problem.
Hypothesis FM : formed pb.
Notation W := (weights pb).
Notation T := (zsum W).
Variables (s S : Z) (Q : list (list R)) (ds : design).
Hypothesis Hs : (0 < s)%Z.
Hypothesis HQ : Forall (fun q => Forall (eq 0) q \/ 0 < dot W q) Q.
Lemma energy_one f : energy W Q (over_den s f) = total (quad pb [f]) Q * / (IZR T * IZR s * IZR s).
Proof.
  pose proof (fT pb FM) as HT. apply IZR_lt in HT, Hs. unfold energy. pose proof HQ as H0. revert H0. generalize Q. intros l H0. induction H0 as [|q l H HQ' IH]; cbn [total]. { ring. } rewrite IH. unfold quad, squares_of. cbn [total]. rewrite over_real. destruct H as [Z0|P].
  - rewrite (zero_all q Z0). unfold Rdiv. ring. - field. repeat split; lra.
Qed.
Lemma quad_cons f fs q : quad pb (f :: fs) q = quad pb [f] q + quad pb fs q.
Proof. unfold quad, squares_of, Rdiv. cbn [total]. ring. Qed.
Lemma energies fs : total (fun f => energy W Q (over_den s f)) fs = total (quad pb fs) Q * / (IZR T * IZR s * IZR s).
Proof.
  induction fs as [|f fs IH]; cbn [total].
  - replace (total (quad pb []) Q) with 0. ring. clear. induction Q; simpl; auto. rewrite <- IHl. unfold quad, squares_of. simpl. unfold Rdiv. ring.
  - rewrite IH, energy_one. rewrite <- Rmult_plus_distr_r. f_equal. clear. induction Q as [|q l IH]; cbn [total]. ring. rewrite (quad_cons f fs q), <- IH. ring.
Qed.
Lemma excesses_ok a : (0 < a)%Z -> forall cs fs, length cs = length fs -> excesses_of W Q (map (over_den a) cs) (map (over_den s) fs) =
  2 * IZR (zdots cs fs) * (/ IZR a * / IZR s) - total (fun f => energy W Q (over_den s f)) fs - IZR (zsum (map (fun c => (zdot W c * zdot W c)%Z) cs)) * (/ IZR a * / IZR a * / IZR T * / IZR T).
Proof.
  intros Ha. induction cs as [|c cs IH]; intros [|f fs] L; try discriminate; cbn [map excesses_of zdots total zsum]. { ring. }
  rewrite IH by (simpl in L; lia). unfold excess_of. rewrite over_weighed, over_dot, !plus_IZR, mult_IZR. unfold Rdiv. ring.
Qed.
Lemma sized_over fs a : Forall (fun f => length f = length W) fs -> Forall (fun w : list R => length w = length W) (map (over_den a) fs).
Proof. intros H. apply Forall_map. eapply Forall_impl; [|exact H]. intros f L. unfold over_den. now rewrite map_length. Qed.
Lemma logs_diagonal fs : forall i l, corner_logs s (Z.of_nat i) fs = Some l -> Forall (Rlt 0) (diagonal i (map (over_den s) fs)) /\ IZR l * d <= sum (map ln (diagonal i (map (over_den s) fs))).
Proof.
  induction fs as [|f fs IH]; cbn [corner_logs map diagonal sum]; intros i l H. { apply Some_inj in H. subst. split; [constructor|]. lra. }
  destruct (nthz (Z.of_nat i) f) as [n|] eqn:N; [|discriminate]. destruct (log_below n s) as [l1|] eqn:L; [|discriminate]. destruct (corner_logs s (Z.of_nat i + 1) fs) as [r|] eqn:F; [|discriminate]. apply Some_inj in H. subst l.
  replace (Z.of_nat i + 1)%Z with (Z.of_nat (Datatypes.S i)) in F by lia. destruct (IH _ _ F) as [A B]. apply log_ok in L. destruct L as (n0 & s0 & L). unfold is_end in L. fold DR in L. apply (nthz_nth 0%Z) in N. rewrite Nat2Z.id in N.
  assert (E : nth i (over_den s f) 0 = IZR n / IZR s).
  { unfold over_den. destruct (Nat.lt_ge_cases i (length f)) as [LT|GE]. - rewrite (nth_indep _ 0 (IZR 0 / IZR s)) by (now rewrite map_length). rewrite (map_nth (fun m => IZR m / IZR s)). now rewrite N. - rewrite nth_overflow in N by lia. lia. }
  rewrite E. apply IZR_lt in n0, s0. split. { constructor; auto. now apply Rdiv_lt_0_compat. } rewrite plus_IZR. unfold Rdiv in L. lra.
Qed.
Lemma ends_by_ok : forall f i j, ends_by i f = true -> (i < Z.of_nat j)%Z -> nth j (over_den s f) 0 = 0.
Proof.
  induction f as [|n f IH]; intros i [|j] H J; cbn [ends_by over_den map nth] in *; auto; apply andb_prop in H; destruct H as [H1 H2].
  - destruct (Z.leb_spec 0 i); [lia|]. apply Z.eqb_eq in H1. subst n. unfold Rdiv. ring. - apply (IH (i - 1)%Z); auto. lia.
Qed.
Lemma triangular_ok fs : forall i0, triangular (Z.of_nat i0) fs = true -> forall i j, (i + i0 < j)%nat -> nth j (nth i (map (over_den s) fs) []) 0 = 0.
Proof.
  induction fs as [|f fs IH]; cbn [triangular map]; intros i0 H i j J. { destruct i; destruct j; auto. } apply andb_prop in H. destruct H as [H1 H2]. destruct i as [|i]; cbn [nth].
  - eapply ends_by_ok; eauto. lia. - replace (Z.of_nat i0 + 1)%Z with (Z.of_nat (Datatypes.S i0)) in H2 by lia. apply (IH _ H2). lia.
Qed.
Lemma risk_below_ok fs cs X Y t : design_ok W ds = true -> Forall (fun f => length f = length W) fs -> total (quad pb fs) Q <= IZR T * IZR S -> risk_below W ds s S fs cs = Some (X, Y) -> risk_at_most W ds Q t ->
  0 < IZR Y /\ IZR X <= IZR Y * t.
Proof.
  intros DO LF HS H HR. pose proof (fT pb FM) as HT. pose proof HT as HT'. pose proof Hs as Hs'. apply IZR_lt in HT', Hs'.
  assert (EN : total (fun f => energy W Q (over_den s f)) fs * (IZR s * IZR s) <= IZR S).
  { rewrite energies. apply (Rmult_le_reg_l (IZR T)); auto. replace (IZR T * (total (quad pb fs) Q * / (IZR T * IZR s * IZR s) * (IZR s * IZR s))) with (total (quad pb fs) Q) by (field; lra). exact HS. }
  set (EG := total (fun f => energy W Q (over_den s f)) fs) in *. unfold risk_below in H. cbv zeta in H. destruct ds as [den qs| |].
  - destruct cs; [|discriminate]. destruct (zlen fs =? zlen qs)%Z eqn:LL; [|discriminate]. apply Some_inj, pair_equal_spec in H. destruct H as [<- <-]. apply Z.eqb_eq in LL. rewrite !zlen_len in LL. cbn [design_ok] in DO. apply andb_prop in DO. destruct DO as [DP _]. apply Z.ltb_lt in DP.
    cbn [risk_at_most] in HR. specialize (HR (map (over_den s) fs) ltac:(rewrite map_length; lia) (sized_over fs s LF)). rewrite (excesses_ok den DP qs fs ltac:(lia)) in HR. fold EG in HR. apply IZR_lt in DP.
    split. { rewrite !mult_IZR. repeat apply Rmult_lt_0_compat; auto. } rewrite !minus_IZR, !mult_IZR.
    apply (Rmult_le_compat_l (IZR den * IZR den * IZR s * IZR s * IZR T * IZR T)) in HR. 2: { repeat apply Rmult_le_pos; lra. }
    apply (Rmult_le_compat_l (IZR den * IZR den * IZR T * IZR T)) in EN. 2: { repeat apply Rmult_le_pos; lra. }
    match type of HR with ?l <= _ => replace l with (2 * IZR den * IZR s * (IZR T * IZR T) * IZR (zdots qs fs) - IZR den * IZR den * IZR T * IZR T * (EG * (IZR s * IZR s)) - IZR s * IZR s * IZR (zsum (map (fun c => (zdot W c * zdot W c)%Z) qs))) in HR by (field; repeat split; lra) end. lra.
  - match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end. apply Some_inj, pair_equal_spec in H. destruct H as [<- <-]. apply andb_prop in C. destruct C as [C CP]. apply andb_prop in C. destruct C as [LL CW]. apply Z.eqb_eq in LL. rewrite !zlen_len in LL. apply Z.ltb_lt, IZR_lt in CP.
    cbn [risk_at_most] in HR. assert (SUM : forall cs fs, length cs = length fs -> Forall (fun f => length f = length W) fs -> forallb (fun c => alike c W) cs = true -> excesses_of W Q (map (over_den s) cs) (map (over_den s) fs) <= t * (IZR (zdots cs cs) * (/ IZR s * / IZR s))).
    { clear - HR. induction cs as [|c cs IH]; intros [|f fs] L LF C; try discriminate; cbn [map excesses_of zdots]. { lra. } cbn [forallb] in C. apply andb_prop in C. destruct C as [C1 C2]. inversion LF as [|? ? F1 F2]; subst. specialize (IH fs ltac:(simpl in L; lia) F2 C2). apply alike_len in C1.
      specialize (HR (over_den s c) (over_den s f) ltac:(unfold over_den; now rewrite map_length) ltac:(unfold over_den; now rewrite map_length)). rewrite over_weighed in HR. rewrite plus_IZR. lra. }
    specialize (SUM cs fs ltac:(lia) LF CW). rewrite (excesses_ok s Hs cs fs ltac:(lia)) in SUM. fold EG in SUM. split. { rewrite !mult_IZR. repeat apply Rmult_lt_0_compat; auto. } rewrite !minus_IZR, !mult_IZR.
    apply (Rmult_le_compat_l (IZR s * IZR s * IZR T * IZR T)) in SUM. 2: { repeat apply Rmult_le_pos; lra. } apply (Rmult_le_compat_l (IZR T * IZR T)) in EN. 2: { repeat apply Rmult_le_pos; lra. }
    match type of SUM with ?l <= ?r => replace l with (2 * (IZR T * IZR T) * IZR (zdots cs fs) - IZR T * IZR T * (EG * (IZR s * IZR s)) - IZR (zsum (map (fun c => (zdot W c * zdot W c)%Z) cs))) in SUM by (field; repeat split; lra);
      replace r with (IZR T * IZR T * IZR (zdots cs cs) * t) in SUM by (field; repeat split; lra) end. lra.
  - destruct cs; [|discriminate]. destruct (corner_logs s 0 fs) as [l|] eqn:CL; [|discriminate]. match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end. apply Some_inj, pair_equal_spec in H. destruct H as [<- <-]. apply andb_prop in C. destruct C as [LL TR]. apply Z.eqb_eq in LL. rewrite !zlen_len in LL.
    destruct (logs_diagonal fs 0%nat l CL) as [DG LG]. cbn [risk_at_most] in HR. specialize (HR (map (over_den s) fs) ltac:(rewrite map_length; lia) (sized_over fs s LF)).
    specialize (HR (fun i j J => triangular_ok fs 0%nat TR i j ltac:(lia)) DG). replace (total (energy W Q) (map (over_den s) fs)) with EG in HR by (unfold EG; clear; induction fs as [|f l IH]; cbn [map total]; [reflexivity|now rewrite IH]).
    split. { rewrite !mult_IZR. fold DR. pose proof DR_pos. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; auto. } rewrite minus_IZR, plus_IZR, !mult_IZR, zlen_len, <- INR_IZR_INZ. fold DR. pose proof DR_pos as DP. pose proof DRd as DD.
    apply (Rmult_le_compat_l (DR * IZR s * IZR s)) in HR. 2: { repeat apply Rmult_le_pos; lra. } apply (Rmult_le_compat_l DR) in EN; [|lra]. apply (Rmult_le_compat_l (2 * IZR s * IZR s * DR)) in LG. 2: { repeat apply Rmult_le_pos; lra. }
    replace (2 * IZR s * IZR s * DR * (IZR l * d)) with (2 * IZR s * IZR s * IZR l * (DR * d)) in LG by ring. rewrite DD in LG. lra.
Qed.
End Risk.

(* ---- the whole matrix ---- *)
Section Whole.
Variables (pb : problem) (ds : design) (s : Z) (cl : Z * Z) (G : Z).
Notation W := (weights pb).
Notation T := (zsum W).
Notation k := (zlen W).
Hypothesis FM : formed pb.
Hypothesis Hs : (0 < s)%Z.
Hypothesis HM : (0 < snd cl)%Z.
Hypothesis DO : design_ok W ds = true.
Variable QV : list (list R * list R).
Notation Q := (map fst QV).
Hypothesis HQ : mechanism pb Q.
Hypothesis SH : Forall (fun qv => shape pb G (fst qv) (snd qv)) QV.
Definition held (bx : list ent) (qv : list R * list R) := Forall (eq 0) (fst qv) \/ ok_box Plain bx (snd qv).
Definition reached_d := forall t, risk_at_most W ds Q t -> - t <= IZR (fst cl) / IZR (snd cl).
Definition good_d st := match st with
  | All bs => match outputs pb with Some _ => Forall2 held bs QV | None => exists b, bs = [b] /\ Forall (held b) QV end -> reached_d
  | Alone p => good_lone pb p end.
Lemma merge_tip A : forall i, merge i Tip A = A.
Proof. induction A as [|a A IH]; simpl; intros i; auto. rewrite IH. unfold amount. rewrite find_tip. f_equal. lia. Qed.
Lemma lone_pays own fs b qv : Forall good_d (if shut (tight 0 b) then [] else [Alone (Lone own fs (tight 0 b) (Some []))]) -> length own = length W -> Forall (fun f => length f = length W) fs -> held b qv -> shape pb G (fst qv) (snd qv) -> quad pb fs (fst qv) <= dot own (fst qv).
Proof.
  destruct qv as [q v]. cbn [fst snd]. intros GD Lo LF HB [Lv SQ].
  assert (Z0 : Forall (eq 0) q -> quad pb fs q <= dot own q).
  { intros Zq. rewrite (zero_all q Zq). unfold quad. replace (squares_of fs q) with 0. { unfold Rdiv. rewrite Rmult_0_r, Rmult_0_l. lra. } unfold squares_of. clear - Zq. induction fs; simpl; auto. rewrite <- IHfs, (zero_all q Zq). lra. }
  destruct SQ as [Zq|(r & r0 & -> & V & X)]; auto. destruct HB as [Zq|B]; auto. cbn [snd] in B. apply (tight_ok Plain 0) in B; auto; [|simpl; lra]. destruct (shut (tight 0 b)) eqn:SHU. { destruct (shut_ok _ _ _ SHU B X). }
  apply Forall_inv in GD. assert (V1 : Forall (Rle 1) v) by (eapply Forall_impl; [|exact V]; simpl; intros; lra). specialize (GD Lo LF v Lv V1 B). assert (GN : forall l, Some [] = Some l -> Exists (eq 1) v /\ Forall (fun x => 1 < entry x v) l) by (intros l E0; apply Some_inj in E0; subst l; auto). specialize (GD GN). cbn [quads due] in GD.
  destruct (weight_one pb FM v Lv V1) as [HT W1]. rewrite dotR_scale. replace (quad pb fs (scale r v)) with (r * quad pb fs v). { apply Rmult_le_compat_l; lra. }
  unfold quad. rewrite dotR_scale. replace (squares_of fs (scale r v)) with (r * r * squares_of fs v). { field. split; lra. } unfold squares_of. rewrite <- total_mult. clear. induction fs; simpl; auto. rewrite IHfs, dotR_scale. ring.
Qed.
Lemma formed_pays A t fs : length A = length W -> Forall (fun f => length f = length W) fs -> forall l bs y, Forall2 held bs l -> Forall (fun qv => shape pb G (fst qv) (snd qv)) l -> Forall (fun qv : list R * list R => length (fst qv) = length W) l ->
  Forall good_d (formed_states k y T A t fs bs) -> total (quad pb fs) (map fst l) <= IZR T * (total (dot A) (map fst l) + mdot k y t (map fst l)).
Proof.
  intros LA LF. induction l as [|qv l IH]; intros bs y HB HS HN GD; inversion HB as [|bx ? bs' ? B1 B2]; subst; cbn [map total mdot]. { lra. } inversion HS as [|? ? S1 S2]; inversion HN as [|? ? N1 N2]; subst. cbn [formed_states] in GD.
  assert (GG : Forall good_d (if shut (tight 0 bx) then [] else [Alone (Lone (zscale T (merge (y * k) t A)) fs (tight 0 bx) (Some []))]) /\ Forall good_d (formed_states k (y + 1) T A t fs bs')).
  { destruct (shut (tight 0 bx)). auto. inversion GD; subst. auto. } destruct GG as [G1 G2]. specialize (IH bs' (y + 1)%Z B2 S2 N2 G2).
  pose proof (lone_pays _ fs bx qv G1 ltac:(rewrite len_scale, len_merge; auto) LF B1 S1) as K. rewrite dot_scale, dot_merge in K by lia. lra.
Qed.
Lemma paid_risk A L fs cs tr b X Y : length A = length W -> Forall (fun f => length f = length W) fs -> Forall (fun q => Forall (eq 0) q \/ 0 < dot W q) Q -> add_rows k 1 (rows pb) L Tip 0 = Some (tr, b) ->
  risk_below W ds s (zsum A + b) fs cs = Some (X, Y) -> (- X * snd cl <= fst cl * Y)%Z -> total (quad pb fs) Q <= IZR T * (total (dot A) Q + mdot k 0 tr Q) -> reached_d.
Proof.
  intros LA LF' PQ R0 RB C0 PAY t HR. apply IZR_le in C0. rewrite !mult_IZR, opp_IZR in C0. pose proof HQ as (HQ1 & _ & _ & HQ4).
  rewrite (sum_prices pb Q A HQ LA) in PAY. assert (LQ : Forall (fun q => Z.of_nat (length q) = k) Q). { eapply Forall_impl; [|exact HQ1]. intros q (L1 & _). rewrite zlen_len. lia. }
  pose proof (add_rows_ok k 1 _ Q LQ ltac:(lia) _ _ _ _ _ _ (fR pb FM) HQ4 R0) as I1. rewrite mdot_tip in I1. pose proof (fT pb FM) as HT. apply IZR_lt in HT.
  assert (HS : total (quad pb fs) Q <= IZR T * IZR (zsum A + b)). { eapply Rle_trans; [exact PAY|]. rewrite plus_IZR. apply Rmult_le_compat_l; lra. }
  destruct (risk_below_ok pb FM s (zsum A + b) Q ds Hs PQ fs cs X Y t DO LF' HS RB HR) as [Y0 XY]. apply IZR_lt in HM.
  apply (Rmult_le_reg_r (IZR Y * IZR (snd cl))). { apply Rmult_lt_0_compat; auto. } replace (IZR (fst cl) / IZR (snd cl) * (IZR Y * IZR (snd cl))) with (IZR (fst cl) * IZR Y) by (field; lra). apply (Rmult_le_compat_r (IZR (snd cl))) in XY; [|lra]. lra.
Qed.
Lemma forms_ok bs A L fs cs l : dstep (Denv pb ds s cl) (Forms A L fs cs) (All bs) = Some l -> Forall good_d l -> good_d (All bs).
Proof.
  cbn [dstep dproblem ddesign dunit dclaim]. intros H GL HB. destruct (add_rows k 1 (rows pb) L Tip 0) as [[tr b]|] eqn:R0; [|discriminate]. destruct (risk_below W ds s (zsum A + b) fs cs) as [[X Y]|] eqn:RB; [|discriminate].
  match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end. apply Some_inj in H. subst l. apply andb_prop in C. destruct C as [C C0]. apply andb_prop in C. destruct C as [LA LF]. apply alike_len in LA. apply Z.leb_le in C0.
  assert (LF' : Forall (fun f => length f = length W) fs). { rewrite forallb_forall in LF. apply Forall_forall. intros f I. apply alike_len. auto. }
  pose proof HQ as (HQ1 & _ & _ & HQ4). assert (HN : Forall (fun qv : list R * list R => length (fst qv) = length W) QV). { rewrite Forall_map in HQ1. eapply Forall_impl; [|exact HQ1]. simpl. intros qv (L1 & _). auto. }
  assert (PAY : total (quad pb fs) Q <= IZR T * (total (dot A) Q + mdot k 0 tr Q)).
  { destruct (outputs pb) as [m|] eqn:OM. { eapply formed_pays; eauto. } destruct HB as (bx & -> & HB). pose proof (fM pb FM) as RW. rewrite OM in RW. rewrite RW in R0. destruct L; [|discriminate]. apply Some_inj in R0. injection R0 as <- <-.
    apply (formed_pays A Tip fs LA LF' QV (map (fun _ => bx) QV) 0%Z); auto.
    - clear - HB. induction HB; simpl; constructor; auto.
    - assert (K : forall (l : list (list R * list R)) y, Forall good_d (formed_states k y T A Tip fs (map (fun _ => bx) l))); [|apply K].
      induction l as [|qv l IH]; intros y; cbn [map formed_states]; [constructor|]. cbn [formed_states] in GL. rewrite merge_tip in *. destruct (shut (tight 0 bx)); auto. inversion GL; subst. constructor; auto. }
  assert (PQ : Forall (fun q => Forall (eq 0) q \/ 0 < dot W q) Q).
  { apply Forall_map. eapply Forall_impl; [|exact SH]. simpl. intros [q v]. cbn [fst snd]. intros [Lv [Z0|(r & r0 & -> & V & _)]]; auto. right. rewrite dotR_scale. destruct (weight_one pb FM v Lv) as [HT W1]. { eapply Forall_impl; [|exact V]. simpl. intros; lra. } apply Rmult_lt_0_compat; lra. }
  eapply paid_risk; eauto.
Qed.
Lemma dstep_ok tok st l : dstep (Denv pb ds s cl) tok st = Some l -> Forall good_d l -> good_d st.
Proof.
  intros H GL. assert (Two : forall x y, Some [x; y] = Some l -> good_d x /\ good_d y). { intros x y K. apply Some_inj in K. subst l. inversion GL as [|? ? G1 G2]; inversion G2; auto. }
  assert (PH : forall c, phi Plain (vd c) <= IZR 0 * d * d) by (intros; simpl; lra).
  destruct st as [bs|p]; destruct tok as [tk|A L fs cs]; [|eapply forms_ok; eauto| |discriminate H]; cbn [dstep dproblem] in H.
  - destruct tk; try discriminate. destruct (nthz y bs) as [bx|] eqn:NB; [|discriminate]. destruct (outputs pb) as [m|] eqn:OM; [|discriminate]. destruct (nthz x bx) as [e|] eqn:NX; [|discriminate]. destruct (Z.leb_spec 0 c) as [C0|]; [|discriminate].
    apply Two in H. destruct H as [G1 G2]. unfold good_d in *. rewrite OM in *. intros HB. destruct (Forall2_nthz _ _ _ HB _ _ NB) as (qv & NQ & IB).
    assert (UP : forall f, held (f bx) qv -> Forall2 held (updz y f bs) QV).
    { intros f K. apply updz_ok; auto. intros b1 qv1 J1 J2 _. rewrite NB in J1. rewrite NQ in J2. apply Some_inj in J1, J2. now subst. }
    destruct IB as [Z0|B]. { apply G1, UP. now left. } destruct (Rle_dec (entry x (snd qv)) (vd c)) as [LE|GT].
    + apply G1, UP. right. eapply updz_box; eauto. intros O. apply cap_ok; auto.
    + apply G2, UP. right. eapply updz_box; eauto. intros O. apply lift_ok; auto. lra.
  - destruct tk; try discriminate.
    + destruct (nthz x (room p)) as [e|] eqn:NX; [|discriminate]. destruct ((y =? 0)%Z && (0 <=? c)%Z)%bool eqn:C; [|discriminate]. apply andb_prop in C. destruct C as [_ C0]. apply Z.leb_le in C0. apply Two in H. destruct H as [G1 G2]. intros Ld LF v Lv V B X.
      destruct (Rle_dec (entry x v) (vd c)) as [LE|GT].
      * apply (G1 Ld LF v Lv V); auto. eapply updz_box; eauto. intros O. apply cap_ok; auto.
      * apply (G2 Ld LF v Lv V); auto. { eapply updz_box; eauto. intros O. apply lift_ok; auto. lra. }
        cbn [gone]. intros l' E0. destruct (gone p) as [l0|] eqn:GP; [|discriminate]. apply Some_inj in E0. destruct (X l0 eq_refl) as [X1 X2]. split; auto. subst l'. destruct (Z.leb_spec D c) as [DC|]; auto. constructor; auto. apply vd_mono in DC. rewrite vdD in DC. lra.
    + destruct (nthz x (room p)) as [e|] eqn:NX; [|discriminate]. destruct (high e) as [[h q]|] eqn:HI; [|discriminate]. destruct (Z.leb_spec D (low e)) as [LO|]; [|discriminate]. apply Two in H. destruct H as [G1 G2]. eapply fix_ok; eauto.
    + destruct ts; [|discriminate]. destruct m as [[|] [|] [|]]; try discriminate. match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end. intros Ld LF v Lv V B X. apply orb_prop in C. destruct C as [C|C]; [apply orb_prop in C; destruct C as [C|C]|].
      * destruct (gone p) as [l0|] eqn:GP; [|discriminate]. destruct (X l0 eq_refl) as [X1 X2]. rewrite (may_ok Plain _ _ B 0%Z l0 X1) in C; [discriminate|]. eapply Forall_impl; [|exact X2]. simpl. intros x0 Y _. now rewrite Z.sub_0_r.
      * eapply quad_leaf_ok; eauto. * eapply quad_leaf_ok; eauto.
Qed.
End Whole.
Definition designed mo ds cl s ratios toks : bool := match des_start mo ds cl s ratios with Some (de, stack) => des_run de toks stack | None => false end.
Theorem designed_sound mo ds N M s ratios toks : designed mo ds (N, M) s ratios toks = true -> forall Q, obeys mo Q -> forall t, risk_at_most (weights (plain (inner (middle mo)))) ds Q t -> - t <= IZR N / IZR M.
Proof.
  unfold designed, des_start. cbv zeta. intros H Q O. set (pb := emptied (plain (inner (middle mo)))) in *. destruct (base pb) as [|r| |] eqn:BA; try discriminate. destruct ratios as [|[G h] [|]]; try discriminate.
  match type of H with match (if ?x then _ else _) with _ => _ end = _ => destruct x eqn:C; [|discriminate] end. split_and C. apply well_formed_ok in C. apply Z.ltb_lt in C3, C4. apply Z.leb_le in C0. apply Z.eqb_eq in C1. subst h.
  destruct O as ([[HQ _] _] & _). assert (HQ' : mechanism pb Q) by exact HQ. clear HQ. pose proof HQ' as (HQ1 & _ & HM & _). destruct (unit_boxes pb r G Q HQ1 BA C2 C0) as (QV & EQ & SH). rewrite <- EQ in HQ'.
  assert (RUN : forall toks stack, des_run (Denv pb ds s (N, M)) toks stack = true -> Forall (good_d pb ds (N, M) QV) stack).
  { induction toks0 as [|tok toks0 IH]; intros [|st stack] K; simpl in K; try discriminate; auto. destruct (dstep _ tok st) as [l|] eqn:SP; [|discriminate]. apply IH in K. apply Forall_app in K. destruct K.
    constructor; auto. eapply (dstep_ok pb ds s (N, M) G); eauto. }
  apply RUN in H. apply Forall_inv in H. cbn [good_d] in H. assert (RT : forall v, length v = length (weights pb) -> Forall (fun y => 1 <= y <= vd G) v -> ok_box Plain (map (fun _ => Ent D 0 (Some (G, 0%Z))) (weights pb)) v).
  { clear. generalize (weights pb). intros W v. revert v. induction W as [|w W IH]; intros [|y v] L V; try discriminate; constructor. - inversion V; subst. pose proof D_pos. repeat split; simpl; auto; try lia; try lra. rewrite vdD. all: try tauto. - apply IH; [simpl in L; lia|inversion V; auto]. }
  assert (HE : forall qv, shape pb G (fst qv) (snd qv) -> held (map (fun _ => Ent D 0 (Some (G, 0%Z))) (weights pb)) qv). { intros qv [Lv [Z0|(x & _ & _ & V & _)]]; [now left|]. right. auto. }
  rewrite <- EQ. apply H. destruct (outputs pb) as [m|] eqn:OM.
  - assert (LV : length QV = Z.to_nat m) by (rewrite <- HM, <- EQ, map_length; lia). unfold numbers. rewrite <- LV.
    assert (K : forall i, Forall2 (held) (iota i (length QV) (fun _ => map (fun _ => Ent D 0 (Some (G, 0%Z))) (weights pb))) QV); [|apply K]. clear - SH HE. induction SH; intros i; cbn [length iota]; constructor; auto.
  - exists (map (fun _ => Ent D 0 (Some (G, 0%Z))) (weights pb)). split; auto. eapply Forall_impl; [|exact SH]. auto.
Qed.
