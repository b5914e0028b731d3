(* Lists and tries by integer index, and what their numbers are worth at a vector. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel.
Import ListNotations.
Open Scope R_scope.

Ltac split_and H := repeat match type of H with (_ && _)%bool = true => apply andb_prop in H; let H' := fresh H in destruct H as [H H'] end.

Lemma nthz_range {A} : forall (l : list A) i a, nthz i l = Some a -> (0 <= i)%Z.
Proof.
  induction l as [|b l IH]; simpl; intros i a H; [discriminate|]. destruct (Z.eqb_spec i 0); [lia|]. apply IH in H. lia.
Qed.
Lemma nthz_nth {A} (w : A) : forall l i a, nthz i l = Some a -> nth (Z.to_nat i) l w = a.
Proof.
  induction l as [|b l IH]; simpl; intros i a H; [discriminate|]. destruct (Z.eqb_spec i 0) as [->|N]; [simpl; congruence|].
  pose proof (nthz_range _ _ _ H). replace (Z.to_nat i) with (S (Z.to_nat (i - 1))) by lia. simpl. now apply IH.
Qed.
Lemma nthz_in {A} : forall (l : list A) i a, nthz i l = Some a -> In a l.
Proof.
  induction l as [|b l IH]; simpl; intros i a H; [discriminate|]. destruct (i =? 0)%Z; [left; congruence|right; eauto].
Qed.
Lemma nthz_entry v x y : nthz x v = Some y -> entry x v = y.
Proof. apply nthz_nth. Qed.
Lemma Forall2_nthz {A B} (P : A -> B -> Prop) l v : Forall2 P l v -> forall i a, nthz i l = Some a -> exists y, nthz i v = Some y /\ P a y.
Proof.
  induction 1 as [|a y l v H0 H IH]; simpl; intros i b E; [discriminate|]. destruct (i =? 0)%Z; eauto.
  apply Some_inj in E. subst. eauto.
Qed.
Lemma updz_ok {A B} (P : A -> B -> Prop) f l v : Forall2 P l v -> forall i,
  (forall a y, nthz i l = Some a -> nthz i v = Some y -> P a y -> P (f a) y) -> Forall2 P (updz i f l) v.
Proof.
  induction 1 as [|a y l v H0 H IH]; simpl; intros i K; constructor || (destruct (i =? 0)%Z eqn:E; constructor); auto.
Qed.
Lemma zlen_len {A} (l : list A) : zlen l = Z.of_nat (length l).
Proof. induction l; cbn [zlen length]; lia. Qed.
Lemma alike_len {A B} : forall (a : list A) (b : list B), alike a b = true -> length a = length b.
Proof. induction a; destruct b; simpl; intros; try discriminate; auto. Qed.
Lemma same_eq : forall a b, same a b = true -> a = b.
Proof.
  induction a; destruct b; simpl; intros H; try discriminate; auto. split_and H. apply Z.eqb_eq in H. f_equal; auto.
Qed.
Lemma nonneg_all l : nonnegative l = true -> Forall (Z.le 0) l.
Proof. unfold nonnegative. rewrite forallb_forall, Forall_forall. intros H x I. apply Z.leb_le. auto. Qed.

(* ---- tries ---- *)
Lemma get_set {A} (a : A) : forall p t, get p (set p a t) = Some a.
Proof. induction p; destruct t; simpl; auto. Qed.
Lemma get_other {A} (a : A) : forall p q t, p <> q -> get q (set p a t) = get q t.
Proof.
  assert (G : forall q, get q (@Tip A) = None) by (destruct q; auto).
  induction p; intros q t N; destruct q, t; simpl; rewrite ?IHp, ?G; auto; congruence.
Qed.
Lemma find_put {A} (a : A) i t : (0 <= i)%Z -> find i (put i a t) = Some a.
Proof. intros H. unfold find, put. destruct (i + 1)%Z eqn:E; try lia. apply get_set. Qed.
Lemma find_other {A} (a : A) i j t : i <> j -> find j (put i a t) = find j t.
Proof.
  intros H. unfold find, put. destruct (j + 1)%Z eqn:E; auto. destruct (i + 1)%Z eqn:F; auto. apply get_other. intros ->. lia.
Qed.
Lemma find_tip {A} i : find i (@Tip A) = None.
Proof. unfold find. destruct (i + 1)%Z; auto. destruct p; auto. Qed.
Lemma find_number {A} : forall (l : list A) i t j, (0 <= i)%Z -> find j (number i l t) =
  match nthz (j - i) l with Some a => Some a | None => find j t end.
Proof.
  induction l as [|a l IH]; simpl; intros i t j H; auto. rewrite IH by lia. replace (j - (i + 1))%Z with (j - i - 1)%Z by lia.
  destruct (Z.eqb_spec (j - i) 0) as [E|E].
  - assert (j = i) by lia. subst. rewrite find_put by auto. destruct (nthz (i - i - 1) l) eqn:N; auto. apply nthz_range in N. lia.
  - rewrite find_other by lia. auto.
Qed.
Lemma amount_bump i j c t : (0 <= j)%Z -> amount i (bump j c t) = (amount i t + (if (i =? j)%Z then c else 0))%Z.
Proof.
  intros H. unfold bump, amount at 1. destruct (Z.eqb_spec i j) as [->|N]. rewrite find_put; auto.
  rewrite find_other by congruence. unfold amount. lia.
Qed.

(* ---- dot products ---- *)
Lemma dot_scale c : forall q v, dot (zscale c q) v = IZR c * dot q v.
Proof. induction q; destruct v; simpl; try lra. unfold zscale in IHq. rewrite IHq, mult_IZR. lra. Qed.
Lemma len_scale c q : length (zscale c q) = length q.
Proof. apply map_length. Qed.
Lemma len_zplus : forall a b, length a = length b -> length (zplus a b) = length a.
Proof. induction a; destruct b; simpl; intros; try discriminate; auto. Qed.
Lemma dot_zplus : forall a b v, length a = length b -> dot (zplus a b) v = dot a v + dot b v.
Proof. induction a; destruct b, v; simpl; intros L; try discriminate; try lra. rewrite IHa, plus_IZR by lia. lra. Qed.
Lemma dot_zeros {A} : forall (l : list A) v, dot (zeros l) v = 0.
Proof. induction l; destruct v; simpl; auto. unfold zeros in IHl. rewrite IHl. lra. Qed.
Lemma len_zeros {A} (l : list A) : length (zeros l) = length l.
Proof. apply map_length. Qed.
Lemma zeros_nonneg {A} (l : list A) : Forall (Z.le 0) (zeros l).
Proof. apply Forall_map, Forall_forall. intros. lia. Qed.
Lemma zphi_zeros {A} kd : forall (l : list A) v, zphi kd (zeros l) v = 0.
Proof. induction l; destruct v; simpl; auto. unfold zeros in IHl. rewrite IHl. lra. Qed.
Lemma zphi_scale kd c : forall W v, zphi kd (zscale c W) v = IZR c * zphi kd W v.
Proof. induction W; destruct v; simpl; try lra. unfold zscale in IHW. rewrite IHW, mult_IZR. lra. Qed.
Lemma scale_nonneg c W : (0 <= c)%Z -> Forall (Z.le 0) W -> Forall (Z.le 0) (zscale c W).
Proof. intros Hc H. apply Forall_map. eapply Forall_impl; [|exact H]. simpl. intros. nia. Qed.
Lemma dot_unit n : forall q v x, length q = length v -> (0 <= x)%Z -> dot (unit_at n x q) v = dot q v + IZR n * entry x v.
Proof.
  unfold unit_at, entry. induction q; destruct v; simpl; intros x L H; try discriminate. { destruct (Z.to_nat x); simpl; lra. }
  destruct (Z.eqb_spec x 0) as [->|N]; simpl. rewrite plus_IZR. lra.
  rewrite IHq by lia. replace (Z.to_nat x) with (S (Z.to_nat (x - 1))) by lia. lra.
Qed.
Lemma len_updz {A} (f : A -> A) : forall l i, length (updz i f l) = length l.
Proof. induction l; simpl; intros i; auto. destruct (i =? 0)%Z; simpl; auto. Qed.

(* ---- what the numbers of a trie from i on are worth ---- *)
Fixpoint tdot (i : Z) (t : trie Z) (v : list R) : R := match v with [] => 0 | y :: v => IZR (amount i t) * y + tdot (i + 1) t v end.
Lemma dot_merge t : forall q v i, length q = length v -> dot (merge i t q) v = dot q v + tdot i t v.
Proof. induction q; destruct v; simpl; intros i L; try discriminate; try lra. rewrite IHq, plus_IZR by lia. lra. Qed.
Lemma len_merge t : forall q i, length (merge i t q) = length q.
Proof. induction q; simpl; intros; auto. Qed.
Lemma tdot_tip : forall v i, tdot i Tip v = 0.
Proof. induction v; simpl; intros; auto. unfold amount. rewrite find_tip, IHv. lra. Qed.
Lemma tdot_bump c t j : (0 <= j)%Z -> forall v i,
  tdot i (bump j c t) v = tdot i t v + (if (i <=? j)%Z then IZR c * entry (j - i) v else 0).
Proof.
  intros Hj. unfold entry. induction v as [|y v IH]; simpl; intros i. { destruct (i <=? j)%Z; destruct (Z.to_nat (j - i)); lra. }
  rewrite IH, amount_bump, plus_IZR by auto. destruct (Z.eqb_spec i j) as [->|N].
  - rewrite Z.leb_refl, Z.sub_diag. destruct (Z.leb_spec (j + 1) j); [lia|]. simpl. lra.
  - destruct (Z.leb_spec i j), (Z.leb_spec (i + 1) j); try lia; try lra.
    replace (Z.to_nat (j - i)) with (S (Z.to_nat (j - (i + 1)))) by lia. lra.
Qed.
(* ... and at a matrix, whose cell (x, y) stands at y k + x *)
Fixpoint mdot (k y : Z) (t : trie Z) (Q : list (list R)) : R := match Q with [] => 0 | q :: Q => tdot (y * k) t q + mdot k (y + 1) t Q end.
Lemma mdot_tip k : forall Q y, mdot k y Tip Q = 0.
Proof. induction Q; simpl; intros; auto. rewrite tdot_tip, IHQ. lra. Qed.
Lemma entry_far q x : (Z.of_nat (length q) <= x)%Z -> entry x q = 0.
Proof. intros. unfold entry. apply nth_overflow. lia. Qed.
Lemma mdot_bump k c t x y : (0 <= x < k)%Z -> (0 <= y)%Z -> forall Q i, (0 <= i)%Z -> Forall (fun q => Z.of_nat (length q) = k) Q ->
  mdot k i (bump (y * k + x) c t) Q = mdot k i t Q + (if (i <=? y)%Z then IZR c * cell Q x (y - i) else 0).
Proof.
  intros Hx Hy. unfold cell. induction Q as [|q Q IH]; simpl; intros i Hi F.
  { destruct (i <=? y)%Z; destruct (Z.to_nat (y - i)); unfold entry; destruct (Z.to_nat x); simpl; lra. }
  inversion F as [|? ? F1 F2]; subst. rewrite IH, tdot_bump by (auto; nia).
  destruct (Z.leb_spec i y) as [A|A].
  - destruct (Z.leb_spec (i * Z.of_nat (length q)) (y * Z.of_nat (length q) + x)); [|nia].
    destruct (Z.leb_spec (i + 1) y) as [B|B].
    + rewrite entry_far by nia. replace (Z.to_nat (y - i)) with (S (Z.to_nat (y - (i + 1)))) by lia. simpl. lra.
    + assert (i = y) by lia. subst i. rewrite Z.sub_diag. replace (y * Z.of_nat (length q) + x - y * Z.of_nat (length q))%Z with x by lia. simpl. lra.
  - destruct (Z.leb_spec (i * Z.of_nat (length q)) (y * Z.of_nat (length q) + x)); [nia|].
    destruct (Z.leb_spec (i + 1) y); [lia|]. lra.
Qed.
