(* The cone of a confidence set: each pair of weights that occurs together gives a half-space (cut), and a column is shown to be in
   the cone by the inequality of Cauchy and Schwarz and a tangent of 1 / y^2. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant.
Import ListNotations.
Open Scope R_scope.

(* ---- the check ---- *)
Open Scope Z_scope.
Definition confidence_ok (W : list Z) cf : bool := let k := zlen W in let '((a, b), (c, e)) := radii cf in
  alike (counts cf) W && nonnegative (counts cf) && (0 <? zsum (counts cf)) && (0 <=? a) && (0 <? b) && (0 <? e) && (a * e <=? c * b) &&
  (k <=? 1024) && (zlen (concat (blocks cf)) <=? k) && forallb (fun block => forallb (fun x => (0 <=? x) && (x <? k)) block) (blocks cf).
(* At least D^2 times the sum of n^2 / r of weights r over their sum m. *)
Fixpoint variance_above (m : Z) (c r : list Z) : option Z := match c, r with [], [] => Some 0
  | n :: c, y :: r => match variance_above m c r with None => None | Some s =>
      if n =? 0 then (if 0 <=? y then Some s else None) else if 0 <? y then Some (ceil (n * n * m * D * D) y + s) else None end
  | _, _ => None end.
Fixpoint spread_out (c : Z) (block r q : list Z) : list Z := match block, r with x :: block, a :: r => spread_out c block r (updz x (fun s => s + c * a) q) | _, _ => q end.
(* s, z, upper ends e, f of D times what the pair spreads, and its weights, one after the other *)
Definition cut_row (W : list Z) cf (g h rt : Z) (l : list Z) : option (list Z) := match l with
  | s :: z :: e :: f :: l => match nthz s (blocks cf), nthz z (blocks cf) with
    | Some b1, Some b2 => let r := firstn (length b1) l in let t := skipn (length b1) l in
        let c1 := pick 0 b1 (counts cf) in let c2 := pick 0 b2 (counts cf) in let K := zsum (counts cf) * (rt - D) in
        match variance_above (zsum r) c1 r, variance_above (zsum t) c2 t with
        | Some u, Some w => if negb (s =? z) && (0 <? zsum r) && (0 <? zsum t) && (0 <=? e) && (0 <=? f) && (u <=? e * e) && (w <=? f * f) &&
              (if product cf then (e <=? K + D * zsum c1) && (f <=? K + D * zsum c2) else e + f <=? K + D * zsum c1 + D * zsum c2)
            then Some (spread_out (- (g * zsum r)) b2 t (spread_out (h * zsum t) b1 r (zeros W))) else None
        | _, _ => None end
    | _, _ => None end
  | _ => None end.
Fixpoint cut_rows (W : list Z) cf g h rt (ls : list (list Z)) : option (list (list Z)) := match ls with [] => Some []
  | l :: ls => match cut_row W cf g h rt l, cut_rows W cf g h rt ls with Some c, Some r => Some (c :: r) | _, _ => None end end.
(* g / h is at least the ratio, rt / D at most the root of 1 + B *)
Definition cuts_of (W : list Z) cf (g h rt : Z) (ls : list (list Z)) : option (list (list Z)) := let '(a, b) := fst (radii cf) in
  if (zlen ls * zlen W <=? 10000000) && confidence_ok W cf && at_least (level cf) g h && (0 <=? rt) && (rt * rt * b <=? (a + b) * D * D) then cut_rows W cf g h rt ls else None.

(* The sum of n times the root of i / D - v, or of v - j / D, over D, of entries v over d. *)
Fixpoint roots_below (up : bool) (d i : Z) (c q : list Z) : option Z := match c, q with
  | n :: c, v :: q => let u := if up then i * d - v * D else v * D - i * d in match roots_below up d i c q with None => None | Some s =>
      if 0 <=? u then Some (n * Z.sqrt (u * D / d) + s) else None end
  | _, _ => Some 0 end.
(* nu, mu over D, and where the tangents touch, over D *)
Definition pair_there cf (g h rt d : Z) (q : list Z) (b1 b2 : list Z) (l : list Z) : bool := match l with
  | [i; j; y; w] => let c1 := pick 0 b1 (counts cf) in let c2 := pick 0 b2 (counts cf) in let K := zsum (counts cf) * (rt - D) in
      match roots_below true d i c1 (pick 0 b1 q), roots_below false d j c2 (pick 0 b2 q) with
      | Some a, Some m => let P := a * a * h * (w * w * w) * D in let Q := g * (m * m) * (y * y * y) * D in
          let left := 3 * (P * y + Q * w) in let need := (h * i - g * j) * (y * y * y) * (w * w * w) in
          (0 <? y) && (0 <? w) && (if product cf then need <=? left - 2 * (P * (K + D * zsum c1) + Q * (K + D * zsum c2))
            else let K := K + D * zsum c1 + D * zsum c2 in (need <=? left - 2 * P * K) && (need <=? left - 2 * Q * K))
      | _, _ => false end
  | _ => false end.
Fixpoint pairs_there cf g h rt d q (b1 : list Z) (i j : Z) (bs : list (list Z)) (ls : list (list Z)) : option (list (list Z)) := match bs with [] => Some ls
  | b2 :: bs => if i =? j then pairs_there cf g h rt d q b1 i (j + 1) bs ls else match ls with [] => None
      | l :: ls => if pair_there cf g h rt d q b1 b2 l then pairs_there cf g h rt d q b1 i (j + 1) bs ls else None end end.
Fixpoint column_there cf g h rt d q (i : Z) (bs : list (list Z)) (ls : list (list Z)) : option (list (list Z)) := match bs with [] => Some ls
  | b1 :: bs => match pairs_there cf g h rt d q b1 i 0 (blocks cf) ls with Some ls => column_there cf g h rt d q (i + 1) bs ls | None => None end end.
Fixpoint columns_there cf g h rt d (cols ls : list (list Z)) : bool := match cols with [] => match ls with [] => true | _ => false end
  | q :: cols => match column_there cf g h rt d q 0 (blocks cf) ls with Some ls => columns_there cf g h rt d cols ls | None => false end end.
Definition confident_there (W : list Z) cf (g h rt d : Z) cols ls : bool := let '(a, b) := snd (radii cf) in
  confidence_ok W cf && at_most (level cf) g h && (0 <=? rt) && ((a + b) * D * D <=? rt * rt * b) && columns_there cf g h rt d cols ls.
Close Scope Z_scope.

(* ---- sums ---- *)
Lemma variance_pos : forall c r, Forall (Rle 0) r -> 0 <= variance c r.
Proof.
  induction c as [|n c IH]; intros [|y r] H; simpl; try lra. inversion H as [|? ? y0 H']; subst. specialize (IH r H'). assert (0 <= IZR n * IZR n / y); [|lra].
  destruct y0 as [y0|<-]. apply Rmult_le_pos; [nra|]. apply Rlt_le, Rinv_0_lt_compat; auto. unfold Rdiv. rewrite Rinv_0. lra.
Qed.
Fixpoint root_sum (c : list Z) (u : list R) := match c, u with n :: c, y :: u => IZR n * sqrt y + root_sum c u | _, _ => 0 end.
Lemma schwarz l : 0 <= l -> forall c r u, Forall (Z.le 0) c -> length r = length c -> length u = length c -> Forall (Rle 0) r -> Forall (Rle 0) u -> Forall2 (fun n y => (0 < n)%Z -> 0 < y) c r ->
  2 * l * root_sum c u - l * l * variance c r <= weighed_sum r u.
Proof.
  intros Hl. induction c as [|n c IH]; intros [|y r] [|v u] Hc Lr Lu Hr Hu H; simpl in *; try discriminate; try lra. inversion Hc as [|? ? n0 Hc']; inversion Hr as [|? ? y0 Hr']; inversion Hu as [|? ? v0 Hu']; inversion H as [|? ? ? ? P H']; subst.
  specialize (IH r u Hc' ltac:(lia) ltac:(lia) Hr' Hu' H'). assert (K : 2 * l * (IZR n * sqrt v) - l * l * (IZR n * IZR n / y) <= y * v); [|lra].
  destruct (Z.eq_dec n 0) as [->|N]. { unfold Rdiv. rewrite !Rmult_0_l, !Rmult_0_r. pose proof (Rmult_le_pos _ _ y0 v0). lra. } specialize (P ltac:(lia)).
  pose proof (sqrt_def v v0) as SD. apply (Rmult_le_reg_r y); auto. replace ((2 * l * (IZR n * sqrt v) - l * l * (IZR n * IZR n / y)) * y) with (2 * l * IZR n * sqrt v * y - l * l * IZR n * IZR n) by (field; lra).
  pose proof (Rle_0_sqr (y * sqrt v - l * IZR n)) as S. unfold Rsqr in S. replace (y * v * y) with (y * y * (sqrt v * sqrt v)) by (rewrite SD; ring). lra.
Qed.
Lemma below_tangent a y0 c r u : 0 <= a -> 0 < y0 -> a <= root_sum c u -> Forall (Z.le 0) c -> length r = length c -> length u = length c -> Forall (Rle 0) r -> Forall (Rle 0) u ->
  Forall2 (fun n y => (0 < n)%Z -> 0 < y) c r -> a * a * (3 / (y0 * y0) - 2 * spreads c r / (y0 * y0 * y0)) <= weighed_sum r u.
Proof.
  intros Ha Hy HA Hc Lr Lu Hr Hu H. pose proof (variance_pos c r Hr) as V0. unfold spreads. pose proof (sqrt_pos (variance c r)) as S0. pose proof (sqrt_def _ V0) as SD. set (s := sqrt (variance c r)) in *.
  assert (K : forall l, 0 <= l -> 2 * l * root_sum c u - l * l * (s * s) <= weighed_sum r u). { intros l Hl. rewrite SD. now apply schwarz. } clear SD V0 Hc Lr Lu Hr Hu H.
  destruct S0 as [S0|S0].
  - assert (L0 : 0 <= a / (s * s)) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; nra). specialize (K _ L0).
    assert (K2 : a * a / (s * s) <= weighed_sum r u).
    { apply Rmult_le_compat_l with (r := 2 * (a / (s * s))) in HA; [|lra]. replace (2 * (a / (s * s)) * a) with (2 * (a * a / (s * s))) in HA by (field; lra).
      replace (a / (s * s) * (a / (s * s)) * (s * s)) with (a * a / (s * s)) in K by (field; lra). lra. }
    eapply Rle_trans; [|exact K2]. unfold Rdiv at 3. apply Rmult_le_compat_l; [nra|]. apply (Rmult_le_reg_r (s * s * (y0 * y0 * y0))). { apply Rmult_lt_0_compat; [nra|]. apply Rmult_lt_0_compat; nra. }
    replace ((3 / (y0 * y0) - 2 * s / (y0 * y0 * y0)) * (s * s * (y0 * y0 * y0))) with (3 * s * s * y0 - 2 * s * s * s) by (field; lra).
    replace (/ (s * s) * (s * s * (y0 * y0 * y0))) with (y0 * y0 * y0) by (field; lra). pose proof (Rle_0_sqr (s - y0)) as Q. unfold Rsqr in Q. apply Rmult_le_compat_l with (r := 2 * s + y0) in Q; [|lra]. lra.
  - rewrite <- S0 in *. assert (A0 : a = 0).
    { destruct Ha as [Ha|]; auto. exfalso. pose proof (K 0 (Rle_refl 0)) as W0. specialize (K ((weighed_sum r u + 1) / (2 * root_sum c u)) ltac:(apply Rlt_le, Rdiv_lt_0_compat; lra)).
      replace (2 * ((weighed_sum r u + 1) / (2 * root_sum c u)) * root_sum c u) with (weighed_sum r u + 1) in K by (field; lra). lra. }
    subst a. pose proof (K 0 (Rle_refl 0)). lra.
Qed.
Lemma weighed_from r n : forall v, length v = length r -> weighed_sum r (map (fun y => n - y) v) = n * sum r - weighed_sum r v.
Proof. induction r; intros [|y v] L; simpl in *; try discriminate; try lra. rewrite IHr by lia. lra. Qed.
Lemma weighed_to r n : forall v, length v = length r -> weighed_sum r (map (fun y => y - n) v) = weighed_sum r v - n * sum r.
Proof. induction r; intros [|y v] L; simpl in *; try discriminate; try lra. rewrite IHr by lia. lra. Qed.
Lemma weighed_pos : forall r v, Forall (Rle 0) r -> Forall (Rle 0) v -> 0 <= weighed_sum r v.
Proof. induction r; intros [|y v] H K; simpl; try lra. inversion H; inversion K; subst. specialize (IHr v H3 H7). pose proof (Rmult_le_pos _ _ H2 H6). lra. Qed.
(* A larger set is a smaller cone. *)
Theorem confident_mono cf B B' v : 0 <= B -> B <= B' -> (0 <= zsum (counts cf))%Z -> confident cf B' v -> confident cf B v.
Proof.
  intros B0 HB HN H s z b1 b2 E1 E2 N c e r t Hr Ht L. apply (H s z b1 b2 E1 E2 N r t Hr Ht). clear H. unfold likely in *. cbv zeta in *.
  assert (S : sqrt (1 + B) <= sqrt (1 + B')) by (apply sqrt_le_1; lra). apply IZR_le in HN. apply Rmult_le_compat_l with (r := IZR (zsum (counts cf))) in S; auto. destruct (product cf); subst c e; lra.
Qed.

(* ---- cuts ---- *)
Lemma pick_length {A} (w : A) b l : length (pick w b l) = length b. Proof. apply map_length. Qed.
Lemma dot_updz x c v : forall q, (0 <= x < zlen q)%Z -> dot (updz x (fun s => s + c)%Z q) v = dot q v + IZR c * entry x v.
Proof.
  rename v into v0. intros q. revert x v0. induction q as [|a q IH]; intros x v H; cbn [zlen] in H; [lia|]. cbn [updz]. destruct (Z.eqb_spec x 0) as [->|N].
  - destruct v as [|y v]; unfold entry; simpl; [lra|]. rewrite plus_IZR. lra.
  - destruct v as [|y v]. { unfold entry. destruct (Z.to_nat x); simpl; lra. } cbn [dot]. rewrite IH by lia. unfold entry. replace (Z.to_nat x) with (S (Z.to_nat (x - 1))) by lia. simpl. lra.
Qed.
Lemma len_updz {A} (f : A -> A) : forall l i, length (updz i f l) = length l.
Proof. induction l; simpl; intros i; auto. destruct (i =? 0)%Z; simpl; auto. Qed.
Lemma spread_out_ok c v k : forall block r q, zlen q = k -> forallb (fun x => (0 <=? x)%Z && (x <? k)%Z)%bool block = true -> length r = length block ->
  zlen (spread_out c block r q) = k /\ dot (spread_out c block r q) v = dot q v + IZR c * weighed_sum (map IZR r) (pick 0 block v).
Proof.
  induction block as [|x block IH]; intros [|a r] q L H LR; cbn [spread_out]; simpl in LR; try discriminate. { simpl. split; auto. lra. } simpl in H. apply andb_prop in H. destruct H as [H1 H2]. apply andb_prop in H1. destruct H1 as [H1 H3].
  apply Z.leb_le in H1. apply Z.ltb_lt in H3. assert (L' : zlen (updz x (fun s => s + c * a)%Z q) = k) by (rewrite zlen_len in *; rewrite len_updz; auto). destruct (IH r _ L' H2 ltac:(lia)) as [I J]. split; auto. rewrite J, dot_updz by lia. simpl. unfold entry. rewrite mult_IZR. lra.
Qed.
Lemma variance_above_ok m : (0 < m)%Z -> forall c r u, Forall (Z.le 0) c -> variance_above m c r = Some u ->
  length r = length c /\ Forall (Z.le 0) r /\ Forall2 (fun n y => (0 < n)%Z -> (0 < y)%Z) c r /\ variance c (map (fun y => IZR y / IZR m) r) <= IZR u * d * d.
Proof.
  intros Hm. pose proof d_pos as dp. pose proof DR_pos as DP. pose proof DRd as DD. induction c as [|n c IH]; intros [|y r] u Hc E; cbn [variance_above] in E; try discriminate. { apply Some_inj in E. subst. simpl. repeat split; auto. lra. }
  destruct (variance_above m c r) as [s|] eqn:V; [|discriminate]. inversion Hc as [|? ? n0 Hc']; subst. destruct (IH r s Hc' V) as (L & P & F & K). destruct (Z.eqb_spec n 0) as [->|N].
  - destruct (Z.leb_spec 0 y); [|discriminate]. apply Some_inj in E. subst s. simpl. repeat split; auto. constructor; auto. lia. unfold Rdiv at 1. rewrite !Rmult_0_l. lra.
  - destruct (Z.ltb_spec 0 y) as [Y0|]; [|discriminate]. apply Some_inj in E. subst u. simpl. repeat split; auto. constructor; auto. lia. apply IZR_lt in Hm. pose proof Y0 as Y1. apply IZR_lt in Y1.
    pose proof (div_upper (n * n * m * D * D) y Y0) as U. fold (ceil (n * n * m * D * D) y) in U. rewrite plus_IZR, !mult_IZR in *. fold DR in *. set (q := IZR (ceil _ _)) in *.
    apply Rmult_le_compat_r with (r := d * d) in U; [|nra]. replace (IZR n * IZR n * IZR m * DR * DR / IZR y * (d * d)) with (IZR n * IZR n * IZR m / IZR y * (DR * d) * (DR * d)) in U by (field; lra). rewrite DD in U.
    replace (IZR n * IZR n / (IZR y / IZR m)) with (IZR n * IZR n * IZR m / IZR y) by (field; lra). lra.
Qed.
Lemma sum_over m : forall r, sum (map (fun y => IZR y / m) r) = IZR (zsum r) / m.
Proof. induction r; simpl. unfold Rdiv; lra. rewrite IHr, plus_IZR. unfold Rdiv. lra. Qed.
Lemma weighed_over m v : forall r, weighed_sum (map (fun y => IZR y / m) r) v = weighed_sum (map IZR r) v / m.
Proof. intros r. revert v. induction r; intros [|y v]; simpl; unfold Rdiv in *; try lra. rewrite IHr. lra. Qed.
Lemma nthz_error {A} : forall (l : list A) i a, nthz i l = Some a -> nth_error l (Z.to_nat i) = Some a.
Proof.
  induction l as [|b l IH]; simpl; intros i a E; [discriminate|]. destruct (Z.eqb_spec i 0) as [->|N]; [exact E|]. pose proof (nthz_range _ _ _ E). replace (Z.to_nat i) with (S (Z.to_nat (i - 1))) by lia. simpl. auto.
Qed.
Lemma pick_nonneg b c : Forall (Z.le 0) c -> Forall (Z.le 0) (pick 0%Z b c).
Proof. intros H. apply Forall_map, Forall_forall. intros x _. destruct (nth_in_or_default (Z.to_nat x) c 0%Z) as [I| ->]; [|lia]. rewrite Forall_forall in H. auto. Qed.
Lemma pick_pos b v : Forall (Rle 0) v -> Forall (Rle 0) (pick 0 b v).
Proof. intros H. apply Forall_map, Forall_forall. intros x _. destruct (nth_in_or_default (Z.to_nat x) v 0) as [I| ->]; [|lra]. rewrite Forall_forall in H. auto. Qed.
Lemma confidence_parts W cf : confidence_ok W cf = true -> length (counts cf) = length W /\ Forall (Z.le 0) (counts cf) /\ (0 < zsum (counts cf))%Z /\
  (0 <= quotient (fst (radii cf)) <= quotient (snd (radii cf))) /\ (0 < snd (fst (radii cf)))%Z /\ (0 < snd (snd (radii cf)))%Z /\ forall b, In b (blocks cf) -> forallb (fun x => (0 <=? x)%Z && (x <? zlen W)%Z)%bool b = true.
Proof.
  unfold confidence_ok, quotient. destruct (radii cf) as [[a b] [c e]]. cbn [fst snd]. intros H. rewrite !andb_true_iff, !Z.leb_le, !Z.ltb_lt in H. destruct H as [[[[[[[[[H1 H2] H3] H4] H5] H6] H7] _] _] H8].
  rewrite forallb_forall in H8. repeat split; auto using alike_len, nonneg_all.
  - apply IZR_le in H4. apply IZR_lt in H5. apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat; auto.
  - apply IZR_lt in H5, H6. apply IZR_le in H7. rewrite !mult_IZR in H7. apply div_le; auto.
Qed.
Lemma root_below a b rt : 0 <= IZR a / IZR b -> (0 < b)%Z -> (0 <= rt)%Z -> (rt * rt * b <= (a + b) * D * D)%Z -> IZR rt * d <= sqrt (1 + IZR a / IZR b).
Proof.
  intros B0 Hb Hr H. apply IZR_lt in Hb. apply IZR_le in Hr, H. rewrite !mult_IZR, plus_IZR in H. fold DR in H. pose proof d_pos. pose proof DRd as DD. rewrite <- (sqrt_square (IZR rt * d)) by nra. apply sqrt_le_1; [nra|lra|].
  apply (Rmult_le_reg_r (IZR b)); auto. replace ((1 + IZR a / IZR b) * IZR b) with (IZR a + IZR b) by (field; lra). apply Rmult_le_compat_r with (r := d * d) in H; [|nra].
  replace ((IZR a + IZR b) * DR * DR * (d * d)) with ((IZR a + IZR b) * (DR * d) * (DR * d)) in H by ring. rewrite DD in H. lra.
Qed.
Lemma root_above a b rt : 0 <= IZR a / IZR b -> (0 < b)%Z -> (0 <= rt)%Z -> ((a + b) * D * D <= rt * rt * b)%Z -> sqrt (1 + IZR a / IZR b) <= IZR rt * d.
Proof.
  intros B0 Hb Hr H. apply IZR_lt in Hb. apply IZR_le in Hr, H. rewrite !mult_IZR, plus_IZR in H. fold DR in H. pose proof d_pos. pose proof DRd as DD. rewrite <- (sqrt_square (IZR rt * d)) by nra. apply sqrt_le_1; [lra|nra|].
  apply (Rmult_le_reg_r (IZR b)); auto. replace ((1 + IZR a / IZR b) * IZR b) with (IZR a + IZR b) by (field; lra). apply Rmult_le_compat_r with (r := d * d) in H; [|nra].
  replace ((IZR a + IZR b) * DR * DR * (d * d)) with ((IZR a + IZR b) * (DR * d) * (DR * d)) in H by ring. rewrite DD in H. lra.
Qed.
Lemma spreads_below c r e : (0 <= e)%Z -> variance c r <= IZR (e * e) * d * d -> spreads c r <= IZR e * d.
Proof.
  intros He H. pose proof d_pos. apply IZR_le in He. rewrite mult_IZR in H. unfold spreads. rewrite <- (sqrt_square (IZR e * d)) by nra. destruct (Rle_dec 0 (variance c r)). apply sqrt_le_1; auto; nra. rewrite sqrt_neg_0 by lra. apply sqrt_pos.
Qed.
Theorem cuts_ok W cf g h rt ls hs v : cuts_of W cf g h rt ls = Some hs -> length v = length W -> Forall (Rle 0) v -> confident cf (quotient (fst (radii cf))) v -> Forall (fun c => dot c v <= 0) hs.
Proof.
  unfold cuts_of. destruct (fst (radii cf)) as [a b] eqn:ER. intros E Lv Nv HC. match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. split_and C. clear C. rename C3 into C. destruct (confidence_parts W cf C) as (LC & NC & N0 & [B0 _] & b0 & _ & IB).
  rewrite ER in B0, b0. unfold quotient in *. cbn [fst snd] in *. apply Z.leb_le in C0, C1. pose proof (root_below a b rt B0 b0 C1 C0) as RB. apply at_least_ok in C2. destruct C2 as (G0 & H0 & HR). pose proof d_pos as dp. pose proof DRd as DD. pose proof DR_pos as DP.
  revert hs E. induction ls as [|l ls IH]; intros hs E; cbn [cut_rows] in E. { apply Some_inj in E. subst. constructor. } destruct (cut_row W cf g h rt l) as [c|] eqn:F; [|discriminate]. destruct (cut_rows W cf g h rt ls) as [cs|]; [|discriminate].
  apply Some_inj in E. subst hs. constructor; [|apply IH; auto]. clear IH. unfold cut_row in F. cbv zeta in F. destruct l as [|s [|z [|e [|f l]]]]; try discriminate. destruct (nthz s (blocks cf)) as [b1|] eqn:N1; [|discriminate]. destruct (nthz z (blocks cf)) as [b2|] eqn:N2; [|discriminate].
  set (r := firstn (length b1) l) in *. set (t := skipn (length b1) l) in *. destruct (variance_above (zsum r) _ r) as [u|] eqn:V1; [|discriminate]. destruct (variance_above (zsum t) _ t) as [w|] eqn:V2; [|discriminate].
  match type of F with (if ?c then _ else _) = _ => destruct c eqn:K; [|discriminate] end. apply Some_inj in F. subst c. apply andb_prop in K. destruct K as [K KL]. rewrite !andb_true_iff, !Z.leb_le, !Z.ltb_lt, negb_true_iff, Z.eqb_neq in K. destruct K as [[[[[[K1 K2] K3] K4] K5] K6] K7].
  apply variance_above_ok in V1, V2; auto using pick_nonneg. destruct V1 as (L1 & P1 & F1 & V1), V2 as (L2 & P2 & F2 & V2). rewrite pick_length in L1, L2.
  pose proof (IB b1 (nthz_in _ _ _ N1)) as I1. pose proof (IB b2 (nthz_in _ _ _ N2)) as I2. destruct (spread_out_ok (h * zsum t) v (zlen W) b1 r (zeros W)) as [Z1 D1]; auto. { rewrite !zlen_len. f_equal. apply map_length. }
  destruct (spread_out_ok (- (g * zsum r)) v (zlen W) b2 t _ Z1) as [_ D2]; auto. rewrite D2, D1, dot_zeros. clear D1 D2 Z1 I1 I2 IB. rewrite opp_IZR, !mult_IZR.
  pose proof K2 as R0. pose proof K3 as T0. apply IZR_lt in R0, T0. assert (SA : forall c p, length p = length c -> Forall (Z.le 0) p -> Forall2 (fun n y => (0 < n)%Z -> (0 < y)%Z) c p -> 0 < IZR (zsum p) -> sample c (map (fun y => IZR y / IZR (zsum p)) p)).
  { intros c p Lp Np Fp Sp. split; [now rewrite map_length|]. split. { apply Forall_map. eapply Forall_impl; [|exact Np]. simpl. intros n Hn. apply IZR_le in Hn. apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat; auto. }
    split. { rewrite sum_over. field. lra. } clear - Fp Sp. revert Sp. generalize (IZR (zsum p)). intros m Sp. induction Fp as [|n y c p P F IH]; simpl; constructor; auto. intros Hn. specialize (P Hn). apply IZR_lt in P. now apply Rdiv_lt_0_compat. }
  assert (Ns : Z.to_nat s <> Z.to_nat z) by (pose proof (nthz_range _ _ _ N1); pose proof (nthz_range _ _ _ N2); lia).
  specialize (HC _ _ _ _ (nthz_error _ _ _ N1) (nthz_error _ _ _ N2) Ns). cbv zeta in HC. specialize (HC _ _ (SA (pick 0%Z b1 (counts cf)) r ltac:(rewrite pick_length; auto) P1 F1 R0) (SA (pick 0%Z b2 (counts cf)) t ltac:(rewrite pick_length; auto) P2 F2 T0)).
  assert (S1 : spreads (pick 0%Z b1 (counts cf)) (map (fun y => IZR y / IZR (zsum r)) r) <= IZR e * d). { apply spreads_below; auto. eapply Rle_trans; [exact V1|]. apply IZR_le in K6. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; lra. }
  assert (S2 : spreads (pick 0%Z b2 (counts cf)) (map (fun y => IZR y / IZR (zsum t)) t) <= IZR f * d). { apply spreads_below; auto. eapply Rle_trans; [exact V2|]. apply IZR_le in K7. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; lra. }
  set (q1 := spreads _ _) in *. set (q2 := spreads _ (map _ t)) in *. set (n1 := zsum (pick 0%Z b1 (counts cf))) in *. set (n2 := zsum (pick 0%Z b2 (counts cf))) in *. apply IZR_lt in N0. set (N := IZR (zsum (counts cf))) in *.
  assert (RN : N * (IZR rt * d - 1) <= N * (sqrt (1 + IZR a / IZR b) - 1)) by (apply Rmult_le_compat_l; lra).
  assert (T1 : forall x, IZR x * d = IZR x * d) by reflexivity. assert (KD : forall i j n, (i <= zsum (counts cf) * (rt - D) + D * n + j)%Z -> IZR i * d <= N * (IZR rt * d - 1) + IZR n + IZR j * d).
  { intros i j n Hi. apply IZR_le in Hi. rewrite !plus_IZR, !mult_IZR, minus_IZR in Hi. fold DR N in Hi. apply Rmult_le_compat_r with (r := d) in Hi; [|lra].
    replace ((N * (IZR rt - DR) + DR * IZR n + IZR j) * d) with (N * (IZR rt * d - DR * d) + DR * d * IZR n + IZR j * d) in Hi by ring. rewrite DD in Hi. lra. }
  assert (HL : likely cf (IZR a / IZR b) (pick 0%Z b1 (counts cf)) (pick 0%Z b2 (counts cf)) (map (fun y => IZR y / IZR (zsum r)) r) (map (fun y => IZR y / IZR (zsum t)) t)).
  { unfold likely. cbv zeta. fold N n1 n2 q1 q2. destruct (product cf).
    - apply andb_prop in KL. destruct KL as [KA KB]. apply Z.leb_le in KA, KB. pose proof (KD e 0%Z n1 ltac:(lia)). pose proof (KD f 0%Z n2 ltac:(lia)). simpl in *. split; lra.
    - apply Z.leb_le in KL. pose proof (KD (e + f) (D * n2) n1 ltac:(lia))%Z as X. rewrite plus_IZR, mult_IZR in X. fold DR in X. replace (DR * IZR n2 * d) with (DR * d * IZR n2) in X by ring. rewrite DD in X. lra. }
  specialize (HC HL). rewrite !weighed_over in HC. set (X := weighed_sum (map IZR r) _) in *. set (Y := weighed_sum (map IZR t) _) in *.
  assert (Y0 : 0 <= Y). { apply weighed_pos; auto using pick_pos. apply Forall_map. eapply Forall_impl; [|exact P2]. simpl. intros n Hn. now apply IZR_le. }
  apply IZR_lt in H0. assert (HG : ratioR (level cf) * (Y / IZR (zsum t)) <= IZR g / IZR h * (Y / IZR (zsum t))). { apply Rmult_le_compat_r; auto. apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat; auto. }
  assert (J : X / IZR (zsum r) <= IZR g / IZR h * (Y / IZR (zsum t))) by lra. apply Rmult_le_compat_r with (r := IZR h * IZR (zsum r) * IZR (zsum t)) in J; [|apply Rmult_le_pos; [apply Rmult_le_pos|]; lra].
  replace (X / IZR (zsum r) * (IZR h * IZR (zsum r) * IZR (zsum t))) with (IZR h * IZR (zsum t) * X) in J by (field; lra).
  replace (IZR g / IZR h * (Y / IZR (zsum t)) * (IZR h * IZR (zsum r) * IZR (zsum t))) with (IZR g * IZR (zsum r) * Y) in J by (field; lra). lra.
Qed.

(* ---- columns ---- *)
Lemma pick_real dn b q : pick 0 b (real dn q) = real dn (pick 0%Z b q).
Proof. unfold pick, real. rewrite map_map. apply map_ext. intros x. apply nth_real. Qed.
Lemma roots_below_ok up dn i : (0 < dn)%Z -> forall c q a, length q = length c -> Forall (Z.le 0) c -> roots_below up dn i c q = Some a ->
  let u := map (fun y => if up then IZR i * d - y else y - IZR i * d) (real dn q) in (0 <= a)%Z /\ Forall (Rle 0) u /\ IZR a * d <= root_sum c u.
Proof.
  intros Hd. pose proof d_pos as dp. pose proof DRd as DD. pose proof DR_pos as DP. pose proof Hd as Hd'. apply IZR_lt in Hd'. cbv zeta. induction c as [|n c IH]; intros [|v q] a L Hc E; cbn [roots_below] in E; try discriminate. { apply Some_inj in E. subst. simpl. repeat split; auto. lia. lra. }
  cbv zeta in E. destruct (roots_below up dn i c q) as [s|] eqn:R; [|discriminate]. inversion Hc as [|? ? n0 Hc']; subst. destruct (IH q s ltac:(simpl in L; lia) Hc' R) as (A & B & C). set (u := if up then (i * dn - v * D)%Z else (v * D - i * dn)%Z) in *.
  destruct (Z.leb_spec 0 u) as [U0|]; [|discriminate]. apply Some_inj in E. subst a. set (y := if up then IZR i * d - IZR v / IZR dn else IZR v / IZR dn - IZR i * d).
  assert (EY : y = IZR u * d / IZR dn). { unfold y, u. destruct up; rewrite minus_IZR, !mult_IZR; fold DR. - replace ((IZR i * IZR dn - IZR v * DR) * d / IZR dn) with (IZR i * d - IZR v / IZR dn * (DR * d)) by (field; lra). rewrite DD. lra.
    - replace ((IZR v * DR - IZR i * IZR dn) * d / IZR dn) with (IZR v / IZR dn * (DR * d) - IZR i * d) by (field; lra). rewrite DD. lra. }
  pose proof U0 as U1. apply IZR_le in U1. assert (Y0 : 0 <= y). { rewrite EY. apply Rmult_le_pos; [nra|]. apply Rlt_le, Rinv_0_lt_compat; auto. }
  set (t := (u * D / dn)%Z). pose proof D_pos as DZ. assert (T0 : (0 <= t)%Z) by (apply Z.div_pos; nia). destruct (Z.sqrt_spec t T0) as [Q1 _]. pose proof (Z.sqrt_nonneg t) as Q0. split; [nia|]. simpl map. fold y. split. { constructor; auto. }
  simpl. fold y. rewrite plus_IZR, mult_IZR. assert (K : IZR (Z.sqrt t) * d <= sqrt y).
  { pose proof Q0 as Q2. apply IZR_le in Q2, Q1. rewrite mult_IZR in Q1. rewrite <- (sqrt_square (IZR (Z.sqrt t) * d)) by nra. apply sqrt_le_1; [nra|auto|]. rewrite EY. pose proof (div_lower (u * D) dn Hd) as LT. fold t in LT. rewrite mult_IZR in LT. fold DR in LT.
    assert (LE : IZR (Z.sqrt t) * IZR (Z.sqrt t) <= IZR u * DR / IZR dn) by lra. apply Rmult_le_compat_r with (r := d * d) in LE; [|nra]. replace (IZR u * DR / IZR dn * (d * d)) with (IZR u * d / IZR dn * (DR * d)) in LE by (field; lra). rewrite DD in LE. lra. }
  apply IZR_le in n0. apply Rmult_le_compat_l with (r := IZR n) in K; auto. lra.
Qed.
Lemma pair_there_ok cf g h rt dn q b1 b2 l k B : (0 < dn)%Z -> (0 <= g)%Z -> (0 < h)%Z -> Forall (Z.le 0) (counts cf) -> sqrt (1 + B) <= IZR rt * d -> (0 <= zsum (counts cf))%Z -> k = length (counts cf) -> pair_there cf g h rt dn q b1 b2 l = true ->
  let c := pick 0%Z b1 (counts cf) in let e := pick 0%Z b2 (counts cf) in forall r t, sample c r -> sample e t -> likely cf B c e r t ->
  weighed_sum r (pick 0 b1 (real dn q)) <= IZR g / IZR h * weighed_sum t (pick 0 b2 (real dn q)).
Proof.
  intros Hd G0 H0 NC RT N0 _ E c e r t (Lr & Nr & Sr & Pr) (Lt & Nt & St & Pt) LK. unfold pair_there in E. cbv zeta in E. fold c e in E. pose proof d_pos as dp. pose proof DRd as DD. pose proof DR_pos as DP.
  destruct l as [|i [|j [|y [|w [|]]]]]; try discriminate. destruct (roots_below true dn i c _) as [a|] eqn:R1; [|discriminate]. destruct (roots_below false dn j e _) as [m|] eqn:R2; [|discriminate].
  apply andb_prop in E. destruct E as [E EK]. apply andb_prop in E. destruct E as [Y0 W0]. apply Z.ltb_lt, IZR_lt in Y0, W0.
  apply roots_below_ok in R1, R2; auto; try (unfold c, e; rewrite !pick_length; reflexivity); try (apply pick_nonneg; auto). destruct R1 as (A0 & U1 & A1), R2 as (M0 & U2 & M1). rewrite <- pick_real in *.
  set (v1 := pick 0 b1 (real dn q)) in *. set (v2 := pick 0 b2 (real dn q)) in *. assert (Lv1 : length v1 = length r) by (unfold v1; rewrite pick_length, Lr; unfold c; now rewrite pick_length). assert (Lv2 : length v2 = length t) by (unfold v2; rewrite pick_length, Lt; unfold e; now rewrite pick_length).
  apply IZR_le in A0, M0, G0, N0. apply IZR_lt in H0.
  pose proof (below_tangent (IZR a * d) (IZR y * d) c r _ ltac:(nra) ltac:(nra) A1 (pick_nonneg b1 _ NC) Lr ltac:(rewrite map_length; lia) Nr U1 Pr) as K1.
  pose proof (below_tangent (IZR m * d) (IZR w * d) e t _ ltac:(nra) ltac:(nra) M1 (pick_nonneg b2 _ NC) Lt ltac:(rewrite map_length; lia) Nt U2 Pt) as K2.
  rewrite weighed_from in K1 by auto. rewrite weighed_to in K2 by auto. rewrite Sr in K1. rewrite St in K2. set (X := weighed_sum r v1) in *. set (Y := weighed_sum t v2) in *. set (s1 := spreads c r) in *. set (s2 := spreads e t) in *.
  set (ga := IZR g / IZR h). assert (ga0 : 0 <= ga) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto).
  set (p := IZR a * IZR a / (IZR y * IZR y * IZR y)). set (o := IZR m * IZR m / (IZR w * IZR w * IZR w)). assert (p0 : 0 <= p). { apply Rmult_le_pos; [nra|]. apply Rlt_le, Rinv_0_lt_compat. apply Rmult_lt_0_compat; nra. }
  assert (o0 : 0 <= o). { apply Rmult_le_pos; [nra|]. apply Rlt_le, Rinv_0_lt_compat. apply Rmult_lt_0_compat; nra. }
  replace (IZR a * d * (IZR a * d) * (3 / (IZR y * d * (IZR y * d)) - 2 * s1 / (IZR y * d * (IZR y * d) * (IZR y * d)))) with (3 * p * IZR y - 2 * p * (s1 / d)) in K1 by (unfold p; field; lra).
  replace (IZR m * d * (IZR m * d) * (3 / (IZR w * d * (IZR w * d)) - 2 * s2 / (IZR w * d * (IZR w * d) * (IZR w * d)))) with (3 * o * IZR w - 2 * o * (s2 / d)) in K2 by (unfold o; field; lra).
  assert (ID : forall z, z / d = z * DR). { intros z. replace z with (z * (DR * d)) at 1 by (rewrite DD; ring). field. lra. } rewrite ID in K1, K2.
  cut (IZR i * d - ga * (IZR j * d) <= 3 * (p * IZR y + ga * o * IZR w) - 2 * (p * (s1 * DR) + ga * o * (s2 * DR))). { intros G. apply Rmult_le_compat_l with (r := ga) in K2; auto. lra. }
  assert (V : forall z1 z2, ((h * i - g * j) * (y * y * y) * (w * w * w) <= 3 * (a * a * h * (w * w * w) * D * y + g * (m * m) * (y * y * y) * D * w) - 2 * (a * a * h * (w * w * w) * D * z1 + g * (m * m) * (y * y * y) * D * z2))%Z ->
    IZR i * d - ga * (IZR j * d) <= 3 * (p * IZR y + ga * o * IZR w) - 2 * (p * IZR z1 + ga * o * IZR z2)).
  { intros z1 z2 H. apply IZR_le in H. repeat rewrite ?minus_IZR, ?plus_IZR, ?mult_IZR in H. fold DR in H. set (F := IZR h * (IZR y * IZR y * IZR y) * (IZR w * IZR w * IZR w) * DR). assert (F0 : 0 < F). { unfold F. apply Rmult_lt_0_compat; [|exact DP]. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [exact H0|]|]; (apply Rmult_lt_0_compat; [nra|auto]). }
    apply (Rmult_le_reg_r F); auto. unfold F, p, o, ga. replace ((IZR i * d - IZR g / IZR h * (IZR j * d)) * (IZR h * (IZR y * IZR y * IZR y) * (IZR w * IZR w * IZR w) * DR)) with ((IZR h * IZR i - IZR g * IZR j) * (IZR y * IZR y * IZR y) * (IZR w * IZR w * IZR w) * (DR * d)) by (field; lra). rewrite DD, Rmult_1_r. eapply Rle_trans; [exact H|]. right. field. repeat split; lra. }
  assert (KS : forall z s n, s <= IZR (zsum (counts cf)) * (sqrt (1 + B) - 1) + n -> IZR z = IZR (zsum (counts cf) * (rt - D)) + DR * n -> s * DR <= IZR z).
  { intros z s n Hs ->. rewrite mult_IZR, minus_IZR. fold DR. apply Rmult_le_compat_r with (r := DR) in Hs; [|lra]. assert (RT' : sqrt (1 + B) * DR <= IZR rt). { apply Rmult_le_compat_r with (r := DR) in RT; [|lra]. replace (IZR rt * d * DR) with (IZR rt * (DR * d)) in RT by ring. rewrite DD in RT. lra. }
    apply Rmult_le_compat_l with (r := IZR (zsum (counts cf))) in RT'; auto. lra. }
  unfold likely in LK. cbv zeta in LK. fold s1 s2 in LK. destruct (product cf).
  - destruct LK as [LA LB]. apply Z.leb_le in EK. apply V in EK. apply (KS (zsum (counts cf) * (rt - D) + D * zsum c)%Z) in LA; [|rewrite plus_IZR, (mult_IZR D); reflexivity]. apply (KS (zsum (counts cf) * (rt - D) + D * zsum e)%Z) in LB; [|rewrite plus_IZR, (mult_IZR D); reflexivity].
    apply Rmult_le_compat_l with (r := p) in LA; auto. apply Rmult_le_compat_l with (r := ga * o) in LB; [|now apply Rmult_le_pos]. lra.
  - apply andb_prop in EK. destruct EK as [EA EB]. apply Z.leb_le in EA, EB. set (z := (zsum (counts cf) * (rt - D) + D * zsum c + D * zsum e)%Z) in *. assert (EA' := V z 0%Z ltac:(lia)). assert (EB' := V 0%Z z ltac:(lia)).
    assert (SS : (s1 + s2) * DR <= IZR z). { apply (KS z (s1 + s2) (IZR (zsum c) + IZR (zsum e))). lra. unfold z. rewrite !plus_IZR, !(mult_IZR D). fold DR. lra. }
    assert (Sp1 : 0 <= s1 * DR) by (apply Rmult_le_pos; [apply sqrt_pos|lra]). assert (Sp2 : 0 <= s2 * DR) by (apply Rmult_le_pos; [apply sqrt_pos|lra]). assert (go0 : 0 <= ga * o) by (now apply Rmult_le_pos).
    destruct (Rle_dec p (ga * o)) as [PO|PO].
    + assert (p * (s1 * DR) + ga * o * (s2 * DR) <= ga * o * IZR z); [|lra]. apply Rmult_le_compat_r with (r := s1 * DR) in PO; auto. apply Rmult_le_compat_l with (r := ga * o) in SS; auto. lra.
    + assert (PO' : ga * o <= p) by lra. assert (p * (s1 * DR) + ga * o * (s2 * DR) <= p * IZR z); [|lra]. apply Rmult_le_compat_r with (r := s2 * DR) in PO'; auto. apply Rmult_le_compat_l with (r := p) in SS; auto. lra.
Qed.
Lemma pairs_there_ok cf g h rt dn q b1 i : forall bs j ls ls', pairs_there cf g h rt dn q b1 i j bs ls = Some ls' ->
  forall z b2, nth_error bs z = Some b2 -> (j + Z.of_nat z <> i)%Z -> exists l, pair_there cf g h rt dn q b1 b2 l = true.
Proof.
  induction bs as [|b bs IH]; intros j ls ls' E [|z] b2 N D0; simpl in N; try discriminate; cbn [pairs_there] in E.
  - injection N as ->. destruct (Z.eqb_spec i j); [lia|]. destruct ls as [|l ls]; [discriminate|]. destruct (pair_there cf g h rt dn q b1 b2 l) eqn:P; [eauto|discriminate].
  - assert (D1 : (j + 1 + Z.of_nat z <> i)%Z) by lia. destruct (i =? j)%Z; [eauto|]. destruct ls as [|l ls]; [discriminate|]. destruct (pair_there cf g h rt dn q b1 b l); [eauto|discriminate].
Qed.
Lemma column_there_ok cf g h rt dn q : forall bs i ls ls', column_there cf g h rt dn q i bs ls = Some ls' -> forall s b1, nth_error bs s = Some b1 ->
  exists l1 l2, pairs_there cf g h rt dn q b1 (i + Z.of_nat s) 0 (blocks cf) l1 = Some l2.
Proof.
  induction bs as [|b bs IH]; intros i ls ls' E [|s] b1 N; simpl in N; try discriminate; cbn [column_there] in E; destruct (pairs_there cf g h rt dn q b i 0 (blocks cf) ls) as [l2|] eqn:P; try discriminate.
  - injection N as ->. rewrite Z.add_0_r. eauto.
  - destruct (IH _ _ _ E s b1 N) as (l1 & l3 & K). replace (i + Z.of_nat (S s))%Z with (i + 1 + Z.of_nat s)%Z by lia. eauto.
Qed.
Theorem confident_there_ok W cf g h rt dn cols ls : (0 < dn)%Z -> Forall (fun q => length q = length W /\ Forall (Z.le 0) q) cols -> confident_there W cf g h rt dn cols ls = true ->
  Forall (confident cf (quotient (snd (radii cf)))) (map (real dn) cols).
Proof.
  unfold confident_there, quotient. intros Hd HC H. destruct (snd (radii cf)) as [a b] eqn:ER. split_and H. destruct (confidence_parts W cf H) as (LC & NC & N0 & [B1 B2] & _ & b0 & _). rewrite ER in B2, b0. assert (B0 : 0 <= IZR a / IZR b) by (unfold quotient in *; cbn [fst snd] in *; lra). cbn [fst snd] in *. clear B1 B2.
  apply Z.leb_le in H1, H2. pose proof (root_above a b rt B0 b0 H2 H1) as RA. apply Sound.at_most_ok in H3. destruct H3 as (G0 & H3 & HR). apply Forall_map. revert ls H0. induction HC as [|q cols [Lq Nq] HC IH]; intros ls E; constructor.
  - cbn [columns_there] in E. destruct (column_there cf g h rt dn q 0 (blocks cf) ls) as [ls'|] eqn:C; [|discriminate]. intros s z b1 b2 E1 E2 N c e r t Hr Ht LK. destruct (column_there_ok _ _ _ _ _ _ _ _ _ _ C s b1 E1) as (l1 & l2 & P).
    destruct (pairs_there_ok _ _ _ _ _ _ _ _ _ _ _ _ P z b2 E2 ltac:(lia)) as (l & PT). pose proof (pair_there_ok _ _ _ _ _ _ _ _ _ _ _ Hd G0 H3 NC RA ltac:(lia) eq_refl PT r t Hr Ht LK) as K. eapply Rle_trans; [exact K|]. apply Rmult_le_compat_r; auto.
    apply weighed_pos; [apply Ht|]. apply pick_pos, real_pos; auto.
  - cbn [columns_there] in E. destruct (column_there cf g h rt dn q 0 (blocks cf) ls) as [ls'|]; [|discriminate]. eauto.
Qed.
