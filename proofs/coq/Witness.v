(* The theorem about values: a matrix of integers over one denominator is a mechanism, and worth at least the claim. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound.
Import ListNotations.

(* ---- the check ---- *)
Open Scope Z_scope.
Fixpoint zdot (a b : list Z) : Z := match a, b with x :: a, y :: b => x * y + zdot a b | _, _ => 0 end.
Fixpoint most (l : list Z) : Z := match l with [] => 0 | a :: l => Z.max a (most l) end.
Fixpoint least_of (l : list Z) (w : Z) : Z := match l with [] => w | a :: l => Z.min a (least_of l w) end.
Definition cells (cols : list (list Z)) : trie Z := number 0 (concat cols) Tip.
Fixpoint zform (k : Z) (t : trie Z) (ts : terms) : Z := match ts with [] => 0 | (x, y, c) :: ts => c * amount (y * k + x) t + zform k t ts end.
Definition edge_holds (t : trie Z) (e : edge) : bool := match e with (x, z, g, h) => amount x t * h <=? g * amount z t end.
(* Of a robust cone: inputs in two blocks or more, each in one, lower shares with a rest of each block. *)
Definition marks (l : list Z) (q : list Z) : list Z := fold_right (unit_at 1) q l.
Definition robust_ok (k den : Z) (low : list Z) (sets : list (list Z)) : bool := (0 <? den) && (zlen low =? k) && (k <=? 1024) && nonnegative low && (2 <=? zlen sets) &&
  forallb (fun b => match b with [] => false | _ => true end) sets && forallb (fun x => (0 <=? x) && (x <? k)) (concat sets) && forallb (Z.eqb 1) (marks (concat sets) (zeros low)) &&
  forallb (fun b => let l := pick 0 b low in (zsum l <? den) || ((zsum l =? den) && forallb (Z.ltb 0) l)) sets.
Definition block_ends den low q b : Z * Z := let l := pick 0 b low in let v := pick 0 b q in let s := zdot l v in let rest := den - zsum l in
  (rest * most v + s, rest * least_of v (most v) + s).
Fixpoint below_all (g h i M j : Z) (es : list (Z * Z)) : bool := match es with [] => true | (_, m) :: es => ((i =? j) || (h * M <=? g * m)) && below_all g h i M (j + 1) es end.
Fixpoint pairs_below (g h i : Z) (all es : list (Z * Z)) : bool := match es with [] => true | (M, _) :: es => below_all g h i M 0 all && pairs_below g h (i + 1) all es end.
Definition robust_holds g h den low sets q : bool := let es := map (block_ends den low q) sets in pairs_below g h 0 es es.
Definition cone_holds (c : cone) (k : Z) (lows : list (Z * Z)) (cols : list (list Z)) : bool := match c with
  | Free => true
  | Complete r => match lows with [(g, h)] => at_most r g h && forallb (fun q => most q * h <=? g * least_of q (most q)) cols | _ => false end
  | Graph es => match join at_most k es lows with
      | Some l => forallb (fun q => let t := number 0 q Tip in forallb (edge_holds t) l) cols | None => false end
  | Robust r den low sets => match lows with [(g, h)] => at_most r g h && robust_ok k den low sets && forallb (robust_holds g h den low sets) cols | _ => false end end.
Definition row_holds (k d : Z) (t : trie Z) (r : row) : bool := let s := zform k t (coefficients r) in
  if equal r then s =? right r * d else s <=? right r * d.
Definition rows_hold (k d : Z) (cols : list (list Z)) (rs : list row) : bool := match rs with [] => true
  | _ => let t := cells cols in forallb (row_holds k d t) rs end.
(* Entries n of a column with their weights g, as pairs; the weights of equal n are added up while these are the last sixteen
   different ones, for most entries of a column are equal. *)
Fixpoint place (n g : Z) (l : list (Z * Z)) : option (list (Z * Z)) := match l with [] => None
  | (m, h) :: l => if n =? m then Some ((m, h + g) :: l) else match place n g l with Some l => Some ((m, h) :: l) | None => None end end.
Fixpoint gather (G q : list Z) (memo : list (Z * Z)) : list (Z * Z) := match G, q with
  | g :: G, n :: q => match place n g memo with Some memo => gather G q memo
      | None => skipn 15 memo ++ gather G q ((n, g) :: firstn 15 memo) end
  | _, _ => memo end.
Fixpoint gathered (l : list (Z * Z)) : Z := match l with [] => 0 | (n, g) :: l => g * n + gathered l end.
(* At most D d times the relative entropy of a column n / d, for one group. *)
Fixpoint logs_below (l : list (Z * Z)) (d : Z) : option Z := match l with [] => Some 0
  | (n, g) :: l => match logs_below l d with None => None | Some s => if (g =? 0) || (n =? 0) then Some s else
      match log_below n d with Some b => Some (g * n * b + s) | None => None end end end.
Definition group_below (G q : list Z) (d : Z) : option Z := let l := gather G q [] in let s := gathered l in
  match logs_below l d with None => None | Some a =>
  if s =? 0 then Some a else match log_above s (zsum G * d) with Some u => Some (a - s * u) | None => None end end.
Fixpoint sum_all {A} (f : A -> option Z) (l : list A) : option Z := match l with [] => Some 0
  | a :: l => match f a, sum_all f l with Some x, Some y => Some (x + y) | _, _ => None end end.
Definition square_below (W q : list Z) : option Z := let s := zdot W q in
  Some (if s =? 0 then 0 else zsum W * zdot W (map (fun n => n * n) q) * D / s - s * D).
Fixpoint best_gain (W q : list Z) (gains : list (list Z)) : Z := match gains with [] => 0 | [g] => zdot (products W g) q
  | g :: gains => Z.max (zdot (products W g) q) (best_gain W q gains) end.
Definition value_holds pb (N M d : Z) (cols : list (list Z)) : bool := let W := weights pb in let T := zsum W in match objective pb with
  | Linear den cost => N * (den * d) <=? zform (zlen W) (cells cols) cost * M
  | Bayes den gains => match sum_all (fun q => Some (best_gain W q gains)) cols with Some s => N * (T * den * d) <=? s * M | None => false end
  | Information gs => match sum_all (fun q => sum_all (fun G => group_below G q d) gs) cols with
      | Some s => N * (T * (D * d)) <=? s * M | None => false end
  | ChiSquare => match sum_all (square_below W) cols with Some s => N * (T * (D * d)) <=? s * M | None => false end end.
Definition attains pb (cl : Z * Z) (d : Z) (lows : list (Z * Z)) (cols : list (list Z)) : bool :=
  let W := weights pb in let k := zlen W in
  well_formed pb && (0 <? d) && (0 <? snd cl) && forallb (fun q => alike q W && nonnegative q) cols &&
  same (fold_right zplus (zeros W) cols) (map (fun _ => d) W) && cone_holds (base pb) k lows cols &&
  forallb (fun q => forallb (fun c => zdot c q <=? 0) (halfspaces pb)) cols &&
  match outputs pb with Some m => zlen cols =? m | None => true end &&
  rows_hold k d cols (rows pb) && value_holds pb (fst cl) (snd cl) d cols.
Close Scope Z_scope.
Open Scope R_scope.

(* ---- what it proves ---- *)
Section Witness.
Variable dn : Z.
Hypothesis DN : (0 < dn)%Z.
Notation dr := (IZR dn).
Definition real (q : list Z) : list R := map (fun n => IZR n / dr) q.
Lemma dr0 : 0 < dr. Proof. now apply IZR_lt. Qed.
Lemma dot_real : forall c q, dot c (real q) = IZR (zdot c q) / dr.
Proof.
  pose proof dr0. induction c; destruct q; simpl; try (unfold Rdiv; lra).
  fold (real q). rewrite IHc, plus_IZR, mult_IZR. unfold Rdiv. ring.
Qed.
Lemma real_pos q : Forall (Z.le 0) q -> Forall (Rle 0) (real q).
Proof.
  intros H. apply Forall_map. eapply Forall_impl; [|exact H]. simpl. intros n Hn. apply IZR_le in Hn.
  apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat, dr0.
Qed.
Lemma nth_real q x : nth x (real q) 0 = IZR (nth x q 0%Z) / dr.
Proof. revert x. induction q; intros [|x]; simpl; auto; unfold Rdiv; lra. Qed.
Lemma amount_number q x : (0 <= x)%Z -> amount x (number 0 q Tip) = nth (Z.to_nat x) q 0%Z.
Proof.
  intros H. unfold amount. rewrite find_number, find_tip, Z.sub_0_r by lia. destruct (nthz x q) as [a|] eqn:E.
  - symmetry. now apply nthz_nth.
  - symmetry. apply nth_overflow. revert x H E. induction q as [|b q IH]; intros x H E; simpl in *; [lia|].
    destruct (Z.eqb_spec x 0); [discriminate|]. specialize (IH (x - 1)%Z ltac:(lia) E). lia.
Qed.
Lemma entry_real q x : (0 <= x)%Z -> entry x (real q) = IZR (amount x (number 0 q Tip)) / dr.
Proof. intros H. unfold entry. rewrite nth_real, amount_number; auto. Qed.
Lemma below_ratio r g h a b : at_most r g h = true -> 0 <= b -> a * IZR h <= IZR g * b -> a / dr <= ratioR r * (b / dr).
Proof.
  intros H Hb K. apply at_most_ok in H. destruct H as (_ & Hh & H). apply IZR_lt in Hh. pose proof dr0 as P0.
  assert (B : 0 <= b / dr) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto).
  apply Rle_trans with (IZR g / IZR h * (b / dr)); [|now apply Rmult_le_compat_r].
  apply (Rmult_le_reg_r (IZR h * dr)); [nra|]. replace (a / dr * (IZR h * dr)) with (a * IZR h) by (field; lra).
  replace (IZR g / IZR h * (b / dr) * (IZR h * dr)) with (IZR g * b) by (field; lra). auto.
Qed.
Lemma most_ge : forall q n, In n q -> (n <= most q)%Z.
Proof. induction q; simpl; intros n H; [tauto|]. destruct H as [->|H]; [lia|]. specialize (IHq n H). lia. Qed.
Lemma least_le w : forall q n, In n q -> (least_of q w <= n)%Z.
Proof. induction q; simpl; intros n H; [tauto|]. destruct H as [->|H]; [lia|]. specialize (IHq n H). lia. Qed.
Lemma zdot_pos : forall G q, Forall (Z.le 0) G -> Forall (Z.le 0) q -> (0 <= zdot G q)%Z.
Proof. induction G; destruct q; simpl; intros A B; try lia. inversion A; inversion B; subst. specialize (IHG q H2 H6). nia. Qed.
Lemma below_all_ok g h i M : forall es j e, below_all g h i M j es = true -> forall t, nth_error es t = Some e -> i <> (j + Z.of_nat t)%Z -> (h * M <= g * snd e)%Z.
Proof.
  induction es as [|[M' m] es IH]; intros j e H [|t] E N; cbn [nth_error below_all] in *; try discriminate; apply andb_prop in H; destruct H as [H1 H2].
  - apply Some_inj in E. subst e. apply orb_prop in H1. destruct H1 as [H1|H1]; [apply Z.eqb_eq in H1; lia|now apply Z.leb_le].
  - eapply (IH (j + 1)%Z); eauto. lia.
Qed.
Lemma pairs_below_ok g h all : forall es i, pairs_below g h i all es = true -> forall s e, nth_error es s = Some e -> below_all g h (i + Z.of_nat s) (fst e) 0 all = true.
Proof.
  induction es as [|[M m] es IH]; intros i H [|s] e E; cbn [nth_error pairs_below] in *; try discriminate; apply andb_prop in H; destruct H as [H1 H2].
  - apply Some_inj in E. subst e. now rewrite Z.add_0_r.
  - specialize (IH _ H2 s e E). now replace (i + Z.of_nat (S s))%Z with (i + 1 + Z.of_nat s)%Z by lia.
Qed.
Lemma given_real den low q y b : (0 < den)%Z -> given_by den low b (IZR y / dr) (real q) = IZR ((den - zsum (pick 0%Z b low)) * y + zdot (pick 0%Z b low) (pick 0%Z b q)) / (IZR den * dr).
Proof.
  intros H. apply IZR_lt in H. pose proof dr0. unfold given_by, least_share, entry.
  assert (A : total (fun x => IZR (nth (Z.to_nat x) low 0%Z) / IZR den) b = IZR (zsum (pick 0%Z b low)) / IZR den).
  { induction b as [|x b IH]; simpl; [unfold Rdiv; lra|]. rewrite IH, plus_IZR. unfold Rdiv. ring. }
  assert (B : total (fun x => IZR (nth (Z.to_nat x) low 0%Z) / IZR den * nth (Z.to_nat x) (real q) 0) b = IZR (zdot (pick 0%Z b low) (pick 0%Z b q)) / (IZR den * dr)).
  { clear A. induction b as [|x b IH]; simpl; [unfold Rdiv; lra|]. rewrite IH, nth_real, plus_IZR, mult_IZR. field. lra. }
  rewrite A, B, plus_IZR, mult_IZR, minus_IZR. field. lra.
Qed.
Lemma robust_holds_ok r den low sets g h q k : at_most r g h = true -> robust_ok k den low sets = true -> robust_holds g h den low sets q = true -> Forall (Z.le 0) q ->
  in_cone (length (real q)) (Robust r den low sets) (real q).
Proof.
  intros HR HO H N s t b1 b2 x z E1 E2 D0 X Z0. unfold robust_ok in HO. split_and HO. apply Z.ltb_lt in HO. rewrite forallb_forall in HO0.
  pose proof (pairs_below_ok _ _ _ _ _ H s _ (map_nth_error (block_ends den low q) _ _ E1)) as K. pose proof (below_all_ok _ _ _ _ _ _ _ K t (map_nth_error (block_ends den low q) _ _ E2) ltac:(lia)) as L. clear H K.
  unfold block_ends in L. cbn [fst snd] in L. assert (PK : forall b y, In y b -> In (nth (Z.to_nat y) q 0%Z) (pick 0%Z b q)) by (intros b y I; exact (in_map (fun y => nth (Z.to_nat y) q 0%Z) _ _ I)).
  pose proof (most_ge _ _ (PK _ _ X)) as A. pose proof (least_le (most (pick 0%Z b2 q)) _ _ (PK _ _ Z0)) as B. apply nth_error_In in E1, E2. pose proof HR as HR'. apply at_most_ok in HR'. destruct HR' as (g0 & h0 & _).
  assert (RE : forall b, In b sets -> (0 <= den - zsum (pick 0%Z b low))%Z).
  { intros b I. specialize (HO0 _ I). cbv zeta in HO0. apply orb_prop in HO0. destruct HO0 as [O|O]; [apply Z.ltb_lt in O; lia|]. apply andb_prop in O. destruct O as [O _]. apply Z.eqb_eq in O. lia. }
  pose proof (RE _ E1) as R1. pose proof (RE _ E2) as R2. unfold entry. rewrite !nth_real, !given_real by auto. apply IZR_lt in HO. pose proof dr0 as P0.
  assert (NN : (0 <= (den - zsum (pick 0 b2 low)) * nth (Z.to_nat z) q 0 + zdot (pick 0 b2 low) (pick 0 b2 q))%Z).
  { assert (P : forall l, Forall (Z.le 0) l -> Forall (Z.le 0) (pick 0%Z b2 l)).
    { intros l Hl. apply Forall_map, Forall_forall. intros y _. destruct (nth_in_or_default (Z.to_nat y) l 0%Z) as [I'| ->]; [|lia]. rewrite Forall_forall in Hl. auto. }
    apply nonneg_all in HO5. pose proof (zdot_pos _ _ (P _ HO5) (P _ N)). destruct (nth_in_or_default (Z.to_nat z) q 0%Z) as [I'| ->]; [|lia]. rewrite Forall_forall in N. pose proof (N _ I'). nia. }
  replace (IZR den * dr) with (dr * IZR den) by ring. unfold Rdiv. rewrite Rinv_mult, <- !Rmult_assoc. rewrite !(Rmult_assoc _ _ (/ IZR den)).
  assert (V : 0 < / IZR den) by now apply Rinv_0_lt_compat. rewrite <- !Rmult_assoc. apply Rmult_le_compat_r; [lra|]. rewrite Rmult_assoc.
  apply (below_ratio r g h); auto. now apply IZR_le. rewrite <- !mult_IZR. apply IZR_le.
  apply (Z.mul_le_mono_nonneg_l _ _ _ R1) in A. apply (Z.mul_le_mono_nonneg_l _ _ _ R2) in B. set (u1 := zdot _ (pick 0%Z b1 q)) in *. set (u2 := zdot _ (pick 0%Z b2 q)) in *.
  apply Z.le_trans with (h * ((den - zsum (pick 0 b1 low)) * most (pick 0 b1 q) + u1))%Z; [rewrite Z.mul_comm; apply Z.mul_le_mono_nonneg_l; lia|].
  eapply Z.le_trans; [exact L|]. apply Z.mul_le_mono_nonneg_l; lia.
Qed.
Lemma cone_ok c lows cols q : cone_holds c (Z.of_nat (length q)) lows cols = true -> In q cols -> Forall (Z.le 0) q -> in_cone (length (real q)) c (real q).
Proof.
  intros H I N. unfold real at 1. rewrite map_length. destruct c as [|r|es|r den low sets]; simpl in *; auto.
  - destruct lows as [|[g h] [|]]; try discriminate. split_and H. rewrite forallb_forall in H0. specialize (H0 q I). apply Z.leb_le in H0.
    intros x z X Z0 _. rewrite !nth_real. rewrite Forall_forall in N. pose proof (nth_In q 0%Z X) as Ix. pose proof (nth_In q 0%Z Z0) as Iz.
    pose proof (N _ Iz) as Nz. apply (below_ratio r g h); auto. now apply IZR_le. rewrite <- !mult_IZR. apply IZR_le.
    apply at_most_ok in H. destruct H as (G0 & H1 & _). pose proof (most_ge q _ Ix). pose proof (least_le (most q) q _ Iz). nia.
  - destruct (join at_most (Z.of_nat (length q)) es lows) as [l|] eqn:J; [|discriminate]. rewrite forallb_forall in H. specialize (H q I). rewrite forallb_forall in H.
    intros x z r E. assert (K : forall es lows l, join at_most (Z.of_nat (length q)) es lows = Some l -> In (x, z, r) es -> exists g h, In (x, z, g, h) l /\ at_most r g h = true /\ (0 <= x)%Z /\ (0 <= z)%Z).
    { clear. induction es as [|[[a b] s] es]; intros [|[g h] lows] l J E; simpl in *; try tauto; try discriminate.
      destruct (at_most s g h && (0 <=? a)%Z && (a <? _)%Z && (0 <=? b)%Z && (b <? _)%Z)%bool eqn:Q; [|discriminate].
      destruct (join at_most _ es lows) as [l'|] eqn:J'; [|discriminate]. apply Some_inj in J. subst l. split_and Q. apply Z.leb_le in Q3, Q1. destruct E as [E|E].
      - injection E as -> -> ->. exists g, h. simpl. auto.
      - destruct (IHes _ _ J' E) as (g' & h' & A & B). exists g', h'. simpl. auto. }
    destruct (K _ _ _ J E) as (g & h & Il & A & X & Z0). specialize (H _ Il). simpl in H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
    rewrite !entry_real by auto. apply (below_ratio r g h); auto. rewrite amount_number by auto. apply IZR_le.
    rewrite Forall_forall in N. destruct (nth_in_or_default (Z.to_nat z) q 0%Z) as [Iq| ->]; [auto|lia].
  - destruct lows as [|[g h] [|]]; try discriminate. split_and H. rewrite forallb_forall in H0. specialize (H0 q I). eapply robust_holds_ok; eauto.
Qed.
Lemma cell_real cols k x y : Forall (fun q => Z.of_nat (length q) = k) cols -> (0 <= x < k)%Z -> (0 <= y)%Z ->
  cell (map real cols) x y = IZR (amount (y * k + x) (cells cols)) / dr.
Proof.
  intros L Hx Hy. unfold cells. rewrite amount_number by nia. unfold cell, entry. replace (Z.to_nat (y * k + x)) with (Z.to_nat y * Z.to_nat k + Z.to_nat x)%nat by nia.
  clear Hy. revert y. intros y. generalize (Z.to_nat y). clear y. induction L as [|q cols Lq L IH]; intros n.
  - simpl. destruct n; simpl; [destruct (Z.to_nat x)|destruct (Z.to_nat x)]; simpl; try (unfold Rdiv; lra); destruct (_ + _)%nat; unfold Rdiv; lra.
  - simpl concat. destruct n; simpl map; cbn [nth].
    + rewrite app_nth1 by lia. apply nth_real.
    + rewrite app_nth2 by nia. rewrite IH. f_equal. f_equal. f_equal. nia.
Qed.
Lemma form_real cols k m : Forall (fun q => Z.of_nat (length q) = k) cols -> forall ts, forallb (term_ok k m) ts = true ->
  form ts (map real cols) = IZR (zform k (cells cols) ts) / dr.
Proof.
  intros L. unfold form. induction ts as [|[[x y] c] ts]; simpl; intros H; [unfold Rdiv; lra|]. split_and H. split_and H. apply Z.leb_le in H, H2. apply Z.ltb_lt in H3.
  rewrite IHts, (cell_real cols k) by auto. rewrite plus_IZR, mult_IZR. unfold Rdiv. ring.
Qed.
Lemma colsum_real k : forall cols, Forall (fun q => length q = k) cols -> forall (W : list Z), length W = k -> colsum k (map real cols) = real (fold_right zplus (zeros W) cols).
Proof.
  induction cols as [|q cols IH]; simpl; intros H W L.
  - subst k. clear. induction W as [|w W IHW]; simpl; [reflexivity|]. f_equal; [unfold Rdiv; lra|exact IHW].
  - inversion_clear H as [|? ? Hq H']. rewrite (IH H' W L).
    assert (LL : length (fold_right zplus (zeros W) cols) = length q). { destruct (fold_groups W cols) as (F & _); [|lia]. eapply Forall_impl; [|exact H']. simpl. intros a Ha. lia. }
    revert LL. generalize (fold_right zplus (zeros W) cols). clear. induction q; intros [|b l] L; simpl in *; try discriminate; auto. rewrite IHq by lia. f_equal. rewrite plus_IZR. unfold Rdiv. ring.
Qed.
Fixpoint sums (f : Z -> R) (G q : list Z) : R := match G, q with g :: G, n :: q => IZR g * f n + sums f G q | _, _ => 0 end.
Lemma total_map {A B} (f : B -> R) (g : A -> B) l : total f (map g l) = total (fun a => f (g a)) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.
Lemma div_more s c w t : 0 < c -> 0 < t -> s / c <= w -> s / (t * c) <= w / t.
Proof.
  intros Hc Ht H. replace (s / (t * c)) with (s / c / t) by (field; lra). apply Rmult_le_compat_r; auto. apply Rlt_le, Rinv_0_lt_compat; auto.
Qed.
Lemma total_app {A} (f : A -> R) l m : total f (l ++ m) = total f l + total f m. Proof. induction l; simpl; lra. Qed.
Notation weighed f := (total (fun p : Z * Z => IZR (snd p) * f (fst p))).
Lemma place_ok f n g : forall l l', place n g l = Some l' -> weighed f l' = IZR g * f n + weighed f l.
Proof.
  induction l as [|[m h] l IH]; simpl; intros l' E; [discriminate|]. destruct (Z.eqb_spec n m) as [->|].
  - apply Some_inj in E. subst. simpl. rewrite plus_IZR. ring.
  - destruct (place n g l) as [l0|]; [|discriminate]. apply Some_inj in E. subst. simpl. rewrite (IH l0); auto. ring.
Qed.
Lemma gather_ok f : forall G q memo, weighed f (gather G q memo) = sums f G q + weighed f memo.
Proof.
  induction G as [|g G IH]; intros [|n q] memo; cbn [gather sums]; try lra. destruct (place n g memo) as [l|] eqn:E.
  - rewrite IH, (place_ok f _ _ _ _ E). ring.
  - pose proof (f_equal (weighed f) (firstn_skipn 15 memo)) as S. rewrite total_app in S. rewrite total_app, IH. cbn [total fst snd]. lra.
Qed.
Notation positive_pairs := (Forall (fun p : Z * Z => (0 <= fst p)%Z /\ (0 <= snd p)%Z)).
Lemma gather_pos : forall G q memo, Forall (Z.le 0) G -> Forall (Z.le 0) q -> positive_pairs memo -> positive_pairs (gather G q memo).
Proof.
  assert (P : forall n g, (0 <= g)%Z -> forall l l', positive_pairs l -> place n g l = Some l' -> positive_pairs l').
  { intros n g g0. induction l as [|[m h] l IH]; simpl; intros l' H E; [discriminate|]. inversion_clear H as [|? ? A B]. destruct (Z.eqb_spec n m).
    apply Some_inj in E. subst. constructor; auto. simpl in *. lia. destruct (place n g l); [|discriminate]. apply Some_inj in E. subst. auto. }
  induction G as [|g G IH]; intros [|n q] memo HG Hq M; cbn [gather]; auto. inversion_clear HG. inversion_clear Hq. destruct (place n g memo) as [l|] eqn:E; eauto.
  rewrite <- (firstn_skipn 15 memo) in M. apply Forall_app in M. destruct M. apply Forall_app. split; auto.
Qed.
Lemma gathered_ok G q : gathered (gather G q []) = zdot G q.
Proof.
  assert (A : forall l, IZR (gathered l) = weighed IZR l) by (induction l as [|[n g] l IH]; simpl; auto; rewrite plus_IZR, mult_IZR, IH; auto).
  apply eq_IZR. rewrite A, gather_ok. simpl. rewrite Rplus_0_r. revert q. induction G; destruct q; simpl; auto. now rewrite plus_IZR, mult_IZR, IHG.
Qed.
Lemma logs_below_ok G q s : Forall (Z.le 0) G -> Forall (Z.le 0) q -> logs_below (gather G q []) dn = Some s -> IZR s / DR / dr <= zphi Entropic G (real q).
Proof.
  pose proof dr0 as P0. pose proof DR_pos as DP. intros HG Hq. pose proof (gather_pos G q [] HG Hq ltac:(constructor)) as H.
  assert (E : zphi Entropic G (real q) = sums (fun n => xlogx (IZR n / dr)) G q) by (clear; revert q; induction G; destruct q; simpl; auto; f_equal; apply IHG).
  pose proof (gather_ok (fun n => xlogx (IZR n / dr)) G q []) as W. simpl (total _ []) in W. rewrite Rplus_0_r in W. rewrite E, <- W. clear E W HG Hq.
  revert s. induction H as [|[n g] l [n0 g0] H IH]; cbn [logs_below]; intros s E. { apply Some_inj in E. subst. simpl. unfold Rdiv. lra. }
  destruct (logs_below l dn) as [s'|]; [|discriminate]. specialize (IH _ eq_refl). cbn [total fst snd] in *. apply IZR_le in n0, g0.
  destruct ((g =? 0) || (n =? 0))%Z%bool eqn:Z0.
  - apply Some_inj in E. subst s'. apply orb_prop in Z0. assert (K : IZR g * xlogx (IZR n / dr) = 0); [|lra].
    destruct Z0 as [Z0|Z0]; apply Z.eqb_eq in Z0; subst; simpl; unfold Rdiv; rewrite ?Rmult_0_l, ?Rmult_0_r; auto.
  - destruct (log_below n dn) as [b|] eqn:L; [|discriminate]. apply Some_inj in E. subst s. apply log_ok in L. destruct L as (_ & _ & L). unfold is_end in L. rewrite plus_IZR, !mult_IZR.
    assert (K : IZR g * IZR n * IZR b / DR / dr <= IZR g * xlogx (IZR n / dr)).
    { replace (IZR g * IZR n * IZR b / DR / dr) with (IZR g * (IZR n / dr * (IZR b / DR))) by (field; lra). apply Rmult_le_compat_l; auto. apply Rmult_le_compat_l; auto.
      apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat; auto. }
    unfold Rdiv in *. lra.
Qed.
Lemma group_below_ok G q s : Forall (Z.le 0) G -> Forall (Z.le 0) q -> group_below G q dn = Some s ->
  IZR s / DR / dr <= relative G (dot G (real q) / IZR (zsum G)) (real q).
Proof.
  pose proof dr0 as P0. pose proof DR_pos as DP. intros HG Hq H. unfold group_below in H. cbv zeta in H. rewrite gathered_ok in H. destruct (logs_below (gather G q []) dn) as [a|] eqn:E; [|discriminate].
  apply logs_below_ok in E; auto. rewrite relative_split by (auto using real_pos). rewrite dot_real. destruct (Z.eqb_spec (zdot G q) 0) as [Z0|Z0].
  - apply Some_inj in H. subst a. rewrite Z0. unfold Rdiv at 4. rewrite !Rmult_0_l. simpl. unfold Rdiv at 3. rewrite Rmult_0_l. lra.
  - destruct (log_above (zdot G q) (zsum G * dn)) as [u|] eqn:L; [|discriminate]. apply Some_inj in H. subst s. apply log_ok in L. destruct L as (s0 & t0 & L). unfold is_end in L.
    assert (T0 : 0 < IZR (zsum G)) by (apply IZR_lt; nia). apply IZR_lt in s0. rewrite mult_IZR in L. rewrite minus_IZR, mult_IZR. set (S := IZR (zdot G q)) in *.
    simpl phi. replace (S / dr / IZR (zsum G)) with (S / (IZR (zsum G) * dr)) by (field; lra).
    assert (K : IZR (zsum G) * (S / (IZR (zsum G) * dr) * ln (S / (IZR (zsum G) * dr))) <= S * IZR u / DR / dr).
    { replace (IZR (zsum G) * (S / (IZR (zsum G) * dr) * ln (S / (IZR (zsum G) * dr)))) with (S / dr * ln (S / (IZR (zsum G) * dr))) by (field; lra).
      replace (S * IZR u / DR / dr) with (S / dr * (IZR u / DR)) by (field; lra). apply Rmult_le_compat_l; auto. apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat; auto. }
    unfold Rdiv in *. lra.
Qed.
Lemma sum_all_ok {A} (f : A -> option Z) (v : A -> R) c : 0 < c -> forall l s, (forall a x, In a l -> f a = Some x -> IZR x / c <= v a) -> sum_all f l = Some s -> IZR s / c <= total v l.
Proof.
  intros Hc. induction l as [|a l IH]; simpl; intros s H E. { apply Some_inj in E. subst. unfold Rdiv. lra. }
  destruct (f a) as [x|] eqn:F; [|discriminate]. destruct (sum_all f l) as [y|]; [|discriminate]. apply Some_inj in E. subst s.
  pose proof (H a x (or_introl eq_refl) F). specialize (IH y (fun b z I => H b z (or_intror I)) eq_refl). rewrite plus_IZR. unfold Rdiv in *. lra.
Qed.
Lemma squares_real : forall W q, squares W (real q) = IZR (zdot W (map (fun n => (n * n)%Z) q)) / (dr * dr).
Proof.
  pose proof dr0. induction W; destruct q; simpl; try (unfold Rdiv; lra). fold (real q). rewrite IHW, plus_IZR, !mult_IZR. field. lra.
Qed.
Lemma square_below_ok W q s : Forall (Z.le 0) W -> Forall (Z.le 0) q -> (0 < zsum W)%Z -> square_below W q = Some s -> IZR s / (DR * dr) <= chi_square W (real q).
Proof.
  pose proof dr0 as P0. pose proof DR_pos as DP. intros HW Hq HT H. apply Some_inj in H. subst s. apply IZR_lt in HT. unfold chi_square. rewrite dot_real, squares_real.
  pose proof (zdot_pos W q HW Hq) as S0. set (s := zdot W q) in *. set (v := zdot W (map (fun n => (n * n)%Z) q)). destruct (Z.eqb_spec s 0) as [E|E].
  - rewrite E. unfold Rdiv. rewrite !Rmult_0_l, Rinv_0. lra.
  - assert (s0 : (0 < s)%Z) by lia. pose proof (div_lower (zsum W * v * D) s s0) as L. rewrite minus_IZR, !mult_IZR in *. fold DR in *. apply IZR_lt in s0.
    replace (IZR v / (dr * dr) / (IZR s / dr / IZR (zsum W)) - IZR (zsum W) * (IZR s / dr / IZR (zsum W))) with ((IZR (zsum W) * IZR v * DR / IZR s - IZR s * DR) / (DR * dr)) by (field; lra).
    unfold Rdiv at 1 2. apply Rmult_le_compat_r; [|lra]. apply Rlt_le, Rinv_0_lt_compat. nra.
Qed.
Lemma best_real W q : forall gains, best (map (fun g => dot (products W g) (real q)) gains) = IZR (best_gain W q gains) / dr.
Proof.
  pose proof dr0 as P0. induction gains as [|g gains IH]; [simpl; unfold Rdiv; lra|]. destruct gains as [|g' gains]. { simpl. apply dot_real. }
  change (Rmax (dot (products W g) (real q)) (best (map (fun g => dot (products W g) (real q)) (g' :: gains))) = IZR (Z.max (zdot (products W g) q) (best_gain W q (g' :: gains))) / dr).
  rewrite IH, dot_real. assert (M : forall a b, (a <= b)%Z -> IZR a / dr <= IZR b / dr). { intros a b H. apply IZR_le in H. apply Rmult_le_compat_r; auto. apply Rlt_le, Rinv_0_lt_compat; auto. }
  destruct (Z.max_spec (zdot (products W g) q) (best_gain W q (g' :: gains))) as [[A ->]|[A ->]]. apply Rmax_right, M. lia. apply Rmax_left, M. lia.
Qed.
End Witness.

Theorem attains_sound pb N M d lows cols : attains pb (N, M) d lows cols = true ->
  mechanism pb (map (real d) cols) /\ IZR N / IZR M <= worth pb (map (real d) cols).
Proof.
  unfold attains. cbv zeta. intros H. split_and H. simpl in *. apply well_formed_ok in H. apply Z.ltb_lt in H7, H8. pose proof (dr0 d H8) as P0. pose proof DR_pos as DP.
  assert (C : forall q, In q cols -> length q = length (weights pb) /\ Forall (Z.le 0) q).
  { intros q I. rewrite forallb_forall in H6. specialize (H6 q I). split_and H6. split. now apply alike_len. now apply nonneg_all. }
  assert (L : Forall (fun q => length q = length (weights pb)) cols) by (apply Forall_forall; intros; now apply C).
  assert (LZ : Forall (fun q => Z.of_nat (length q) = zlen (weights pb)) cols) by (apply Forall_forall; intros; rewrite zlen_len; f_equal; now apply C).
  assert (HM : mechanism pb (map (real d) cols)).
  { split; [|split; [|split]].
    - apply Forall_map, Forall_forall. intros q I. destruct (C q I) as [Lq Nq]. split. { unfold real. now rewrite map_length. } split. { now apply real_pos. } split.
      + rewrite zlen_len, <- Lq in H4. assert (LL : length (weights pb) = length (real d q)) by (unfold real; rewrite map_length; auto). rewrite LL. eapply cone_ok; eauto.
      + apply Forall_forall. intros c Ic. rewrite forallb_forall in H3. specialize (H3 q I). rewrite forallb_forall in H3. specialize (H3 c Ic). apply Z.leb_le, IZR_le in H3.
        rewrite dot_real by auto. unfold Rdiv. pose proof (Rinv_0_lt_compat _ P0). nra.
    - rewrite (colsum_real d (length (weights pb)) cols L (weights pb) eq_refl). apply same_eq in H5. rewrite H5. unfold real. rewrite map_map.
      clear - P0. induction (weights pb); simpl; auto. rewrite IHl. f_equal. field. lra.
    - destruct (outputs pb); auto. apply Z.eqb_eq in H2. rewrite map_length, <- zlen_len. auto.
    - apply Forall_forall. intros r I. assert (RH : forallb (row_holds (zlen (weights pb)) d (cells cols)) (rows pb) = true) by (destruct (rows pb); auto).
      clear H1. rename RH into H1. rewrite forallb_forall in H1. specialize (H1 r I). unfold row_holds in H1. unfold holds.
      pose proof (fR pb H) as FR. rewrite forallb_forall in FR. rewrite (form_real d cols (zlen (weights pb)) _ LZ _ (FR r I)).
      destruct (equal r). apply Z.eqb_eq in H1. rewrite H1, mult_IZR. field. lra.
      apply Z.leb_le, IZR_le in H1. rewrite mult_IZR in H1. apply (Rmult_le_reg_r (IZR d)); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  split; auto. unfold value_holds in H0. cbv zeta in H0. pose proof (fT pb H) as HT. apply IZR_lt in HT. apply IZR_lt in H7. unfold worth.
  assert (Fin : forall s t c w, 0 < IZR t -> 0 < IZR c -> (N * (t * c) <= s * M)%Z -> IZR s / IZR c <= w -> IZR N / IZR M <= w / IZR t).
  { intros s t c w Ht Hc K Q. apply IZR_le in K. rewrite !mult_IZR in K. apply Rle_trans with (IZR s / (IZR t * IZR c)).
    apply div_le; auto. now apply Rmult_lt_0_compat. now apply div_more. }
  assert (DD : 0 < IZR (D * d)) by (rewrite mult_IZR; now apply Rmult_lt_0_compat).
  assert (DS : forall s, IZR s / IZR (D * d) = IZR s / (DR * IZR d)) by (intros; now rewrite mult_IZR).
  pose proof (fO pb H) as FO. destruct (objective pb) as [den cost|den gains|gs|]; try rewrite total_map.
  - destruct FO as (D0 & _ & FO). apply IZR_lt in D0. apply Z.leb_le in H0. eapply Fin; [exact D0|exact P0|exact H0|].
    rewrite (form_real d cols (zlen (weights pb)) _ LZ _ FO). lra.
  - destruct FO as (D0 & _ & _). apply IZR_lt in D0. destruct (sum_all _ cols) as [s|] eqn:S; [|discriminate]. apply Z.leb_le in H0. rewrite <- mult_IZR.
    eapply Fin; [rewrite mult_IZR; now apply Rmult_lt_0_compat|exact P0|exact H0|]. refine (sum_all_ok _ _ _ P0 _ _ _ S).
    intros q x _ E. apply Some_inj in E. subst x. rewrite best_real by auto. lra.
  - destruct FO as [FO _]. destruct (sum_all _ cols) as [s|] eqn:S; [|discriminate]. apply Z.leb_le in H0. eapply Fin; [exact HT|exact DD|exact H0|].
    refine (sum_all_ok _ _ _ DD _ _ _ S). intros q x I E. refine (sum_all_ok _ _ _ DD _ _ _ E). intros G y IG F. rewrite Forall_forall in FO.
    destruct (FO G IG) as [_ G0]. apply (group_below_ok d H8) in F; auto. 2: now apply C. rewrite DS.
    replace (IZR y / (DR * IZR d)) with (IZR y / DR / IZR d) by (field; lra). auto.
  - destruct (sum_all _ cols) as [s|] eqn:S; [|discriminate]. apply Z.leb_le in H0. eapply Fin; [exact HT|exact DD|exact H0|].
    refine (sum_all_ok _ _ _ DD _ _ _ S). intros q x I E. rewrite DS. apply square_below_ok; auto; apply H || now apply C.
Qed.
