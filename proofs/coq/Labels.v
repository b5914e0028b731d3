(* Labels: mutual information on a graph of edges v_x <= R^l v_z with integers l >= 0. Each column of the cone is a mean of columns
   with entries R^-m, m integers that keep m_z - m_x <= l, times the same number; so it is enough that none of these earns more than
   it pays. A tree over the integers m shows it. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant.
Import ListNotations.

(* ---- the check ---- *)
Open Scope Z_scope.
(* step: log R as a fraction; lengths: l of each edge; powers: n_m <= D R^-m <= N_m; order, least, trees and links as in the text. *)
Record labels := Labels { lunit : Z; lprices : list Z; step_ : Z * Z; lengths : list Z; powers : list (Z * Z); order : list Z;
  least_ : list Z; links : list (Z * Z); trees : list (list Z) }.
Record lenv := Lenv { le : Z; lt_ : Z; lw : list Z; la : list Z; lstep : Z * Z; away : list (list Z); lpow : list (Z * Z); llinks : list (Z * Z) }.
Record limits_of := Lab { lo : list Z; hi : list Z }.     (* lo_x <= m_x <= hi_x *)
Inductive ltoken := Cut (x c : Z) | End (t : Z) (flows : list (list Z)).

Definition is_long (u : Z * Z) r (l : Z) : bool := (0 <=? l) && match r with
  | Exp a b => (0 <? b) && (a * snd u <=? l * fst u * b)
  | Frac a b => (0 <? b) && ((a <=? b) || at_most (Exp (l * fst u) (snd u)) a b) end.
Fixpoint lab_edges (u : Z * Z) (k : Z) (es : list (Z * Z * ratio)) (ls : list Z) : option (list (Z * Z * Z)) := match es, ls with
  | [], [] => Some []
  | (x, z, r) :: es, l :: ls => if is_long u r l && (0 <=? x) && (x <? k) && (0 <=? z) && (z <? k)
      then match lab_edges u k es ls with Some t => Some ((x, z, l) :: t) | None => None end else None
  | _, _ => None end.
(* Distances from s, by edges in an order in which each begins at an input that is reached. *)
Fixpoint reach (t : trie (Z * Z * Z)) (es : list Z) (dist : trie Z) : option (trie Z) := match es with [] => Some dist
  | e :: es => match find e t with Some (x, z, l) => match find x dist with
      | Some a => reach t es (put z (a + l) dist) | None => None end | None => None end end.
Fixpoint collect (i : Z) (W : list Z) (dist : trie Z) : option (list Z) := match W with [] => Some []
  | _ :: W => match find i dist, collect (i + 1) W dist with Some a, Some l => Some (a :: l) | _, _ => None end end.
Fixpoint all_away t W (s : Z) (ts : list (list Z)) : option (list (list Z)) := match ts with [] => Some []
  | es :: ts => match reach t es (put s 0 Tip) with None => None | Some dist => match collect 0 W dist, all_away t W (s + 1) ts with
      | Some row, Some l => Some (row :: l) | _, _ => None end end end.
Fixpoint powers_ok (u : Z * Z) (m : Z) (ps : list (Z * Z)) : bool := match ps with [] => true
  | (n, N) :: ps => ((n =? 0) || at_least (Exp (m * fst u) (snd u)) D n) && (0 <? N) && at_most (Exp (m * fst u) (snd u)) D N
      && powers_ok u (m + 1) ps end.
(* hi_z becomes at most c + d(x, z), of the list d(x, .); lo_z at least c - d(z, x), of the list of all these lists. *)
Fixpoint cap (c : Z) (row hi : list Z) : list Z := match row, hi with a :: row, h :: hi => Z.min h (c + a) :: cap c row hi | _, _ => hi end.
Fixpoint lift (x c : Z) (rows : list (list Z)) (lo : list Z) : list Z := match rows, lo with
  | row :: rows, l :: lo => match nthz x row with Some a => Z.max l (c - a) | None => l end :: lift x c rows lo
  | _, _ => lo end.
Fixpoint close_least rows (i : Z) (b lo : list Z) : list Z := match b with [] => lo | c :: b => close_least rows (i + 1) b (lift i c rows lo) end.
Fixpoint lab_roots rows (b order lo : list Z) : option (list limits_of) := match order with [] => Some []
  | s :: order => match nthz s rows, nthz s b with
      | Some row, Some c => match lab_roots rows b order (lift s (c + 1) rows lo) with
          | Some l => Some (Lab lo (map (Z.add c) row) :: l) | None => None end | _, _ => None end end.

(* Tables: the first label, and a number for each label from it on. *)
Fixpoint drop {A} (i : Z) (l : list A) : list A := if i <=? 0 then l else match l with [] => [] | _ :: l => drop (i - 1) l end.
Fixpoint cells (f : Z -> Z * Z -> Z) (h m : Z) (ps : list (Z * Z)) : list Z := match ps with [] => []
  | p :: ps => if m <=? h then f m p :: cells f h (m + 1) ps else [] end.
(* At least D^2 R^-m times - E w (u m + 1 + l / D) - T a. *)
Definition table_cell (en : lenv) (s w a m : Z) (p : Z * Z) : Z :=
  let c := - (le en * w * (fst (lstep en) * m * D / snd (lstep en) + s) + lt_ en * a * D) in if 0 <=? c then c * snd p else c * fst p.
Fixpoint tables en (s : Z) (W A lo hi : list Z) : list (Z * list Z) := match W, A, lo, hi with
  | w :: W, a :: A, l :: lo, h :: hi => (l, cells (table_cell en s w a) h l (drop l (lpow en))) :: tables en s W A lo hi
  | _, _, _, _ => [] end.
Fixpoint raised (y j i : Z) (t : list Z) : list Z := match t with [] => [] | h :: t => (if j <=? i then h + y else h) :: raised y j (i + 1) t end.
Definition add_at (x y j : Z) (tabs : list (Z * list Z)) := updz x (fun lt => (fst lt, raised y j (fst lt) (snd lt))) tabs.
Definition dist (rows : list (list Z)) (x z : Z) : option Z := match nthz x rows with Some row => nthz z row | None => None end.
(* y times [m_x >= j - d(x, z)] - [m_z >= j], for j, j + 1, ... *)
Fixpoint flow_on (x z a j : Z) (ys : list Z) (tabs : list (Z * list Z)) : option (list (Z * list Z)) := match ys with [] => Some tabs
  | y :: ys => if 0 <=? y then flow_on x z a (j + 1) ys (add_at z (- y) j (add_at x y (j - a) tabs)) else None end.
Definition known_at (x : Z) (tabs : list (Z * list Z)) : bool := match nthz x tabs with Some _ => true | None => false end.
Fixpoint flows_on rows (fl : list (list Z)) tabs : option (list (Z * list Z)) := match fl with [] => Some tabs
  | (x :: z :: j :: ys) :: fl => match dist rows x z with None => None | Some a => if known_at x tabs && known_at z tabs then
      match flow_on x z a j ys tabs with Some tabs => flows_on rows fl tabs | None => None end else None end
  | _ => None end.
Fixpoint pick (a b i : Z) (t : list Z) : list Z := match t with [] => []
  | h :: t => if (a <=? i) && (i <=? b) then h :: pick a b (i + 1) t else pick a b (i + 1) t end.
Fixpoint maxz (l : list Z) : Z := match l with [] => 0 | [a] => a | a :: l => Z.max a (maxz l) end.
Fixpoint summed (g : Z -> Z) (i : Z) (t : list Z) : list Z := match t with [] => [] | h :: t => (h + g i) :: summed g (i + 1) t end.
(* Each label of z takes over the largest number of the labels of x that go with it. *)
Fixpoint links_on rows (ls : list (Z * Z)) tabs : option (list (Z * list Z)) := match ls with [] => Some tabs
  | (x, z) :: ls => match dist rows x z, dist rows z x, nthz x tabs, nthz z tabs with
      | Some a, Some b, Some (l, t), Some _ => if x =? z then None else
          links_on rows ls (updz x (fun lt => (fst lt, zeros (snd lt)))
            (updz z (fun lt => (fst lt, summed (fun m => maxz (pick (m - a) (m + b) l t)) (fst lt) (snd lt))) tabs))
      | _, _, _, _ => None end end.
Fixpoint largest (tabs : list (Z * list Z)) : Z := match tabs with [] => 0 | (_, t) :: tabs => maxz t + largest tabs end.
Fixpoint crossed (lo hi : list Z) : bool := match lo, hi with l :: lo, h :: hi => (h <? l) || crossed lo hi | _, _ => false end.
Definition lab_leaf (en : lenv) (t : Z) (fl : list (list Z)) (st : limits_of) : bool := crossed (lo st) (hi st) ||
  (nonnegative (lo st) && forallb (fun h => h <? zlen (lpow en)) (hi st) && alike (lw en) (lo st) && alike (lw en) (hi st) &&
   match log_below t D with None => false | Some l =>
   match flows_on (away en) fl (tables en (D + l) (lw en) (la en) (lo st) (hi st)) with None => false | Some tabs =>
   match links_on (away en) (llinks en) tabs with None => false | Some tabs => le en * lt_ en * t * D + largest tabs <=? 0 end end end).
Definition lab_step (en : lenv) (tok : ltoken) (st : limits_of) : option (list limits_of) := match tok with
  | Cut x c => match nthz x (away en) with None => None
      | Some row => Some [Lab (lo st) (cap c row (hi st)); Lab (lift x (c + 1) (away en) (lo st)) (hi st)] end
  | End t fl => if lab_leaf en t fl st then Some [] else None end.
Definition lab_advance en tok (stack : list limits_of) : option (list limits_of) := match stack with
  | st :: stack => match lab_step en tok st with Some l => Some (l ++ stack) | None => None end | [] => None end.
Fixpoint lab_run en (toks : list ltoken) (stack : list limits_of) : bool := match toks with
  | [] => match stack with [] => true | _ => false end
  | tok :: toks => match lab_advance en tok stack with Some stack => lab_run en toks stack | None => false end end.
Definition lab_start (co : with_convex) (cl : Z * Z) (lb : labels) : option (lenv * list limits_of) :=
  let pb := plain (inner co) in let W := weights pb in let E := lunit lb in
  match objective pb, base pb, loss co, bonus (inner co) with
  | Information [G], Graph es, None, [] =>
      if same G W && well_formed pb && (0 <? E) && (0 <? snd cl) && alike (lprices lb) W && alike (least_ lb) W && pays cl E (zsum (lprices lb))
        && (0 <? fst (step_ lb)) && (0 <? snd (step_ lb)) && powers_ok (step_ lb) 0 (powers lb) && alike (trees lb) W
        && forallb (fun x => existsb (Z.eqb x) (order lb)) (numbers (zlen W) (fun x => x)) then
        match lab_edges (step_ lb) (zlen W) es (lengths lb) with None => None | Some t =>
        match all_away (number 0 t Tip) W 0 (trees lb) with None => None | Some rows =>
        match lab_roots rows (least_ lb) (order lb) (close_least rows 0 (least_ lb) (least_ lb)) with None => None | Some roots =>
          Some (Lenv E (zsum W) W (lprices lb) (step_ lb) rows (powers lb) (links lb), roots) end end end else None
  | _, _, _, _ => None end.
(* No mechanism of the problem is worth more than the claim. *)
Definition labelled co cl lb toks : bool := match lab_start co cl lb with Some (en, roots) => lab_run en toks roots | None => false end.
Close Scope Z_scope.
Open Scope R_scope.

(* ---- the tree ---- *)
Fixpoint lows (i : Z) (l : list Z) (f : Z -> Z) : Prop := match l with [] => True | a :: l => (a <= f i)%Z /\ lows (i + 1) l f end.
Fixpoint highs (i : Z) (l : list Z) (f : Z -> Z) : Prop := match l with [] => True | a :: l => (f i <= a)%Z /\ highs (i + 1) l f end.
Fixpoint rows_ok (i : Z) (rows : list (list Z)) (m : Z -> Z) : Prop := match rows with [] => True
  | row :: rows => highs 0 row (fun x => m x - m i)%Z /\ rows_ok (i + 1) rows m end.
Lemma highs_nth : forall l i f j a, highs i l f -> nthz j l = Some a -> (f (i + j) <= a)%Z.
Proof.
  induction l as [|b l IH]; simpl; intros i f j a H E; [discriminate|]. destruct (Z.eqb_spec j 0) as [->|N].
  - apply Some_inj in E. subst. rewrite Z.add_0_r. tauto.
  - destruct H as [_ H]. specialize (IH (i + 1)%Z f (j - 1)%Z a H E). replace (i + 1 + (j - 1))%Z with (i + j)%Z in IH by lia. exact IH.
Qed.
Lemma rows_nth m : forall rows i j row, rows_ok i rows m -> nthz j rows = Some row -> highs 0 row (fun x => m x - m (i + j))%Z.
Proof.
  induction rows as [|b l IH]; simpl; intros i j a H E; [discriminate|]. destruct (Z.eqb_spec j 0) as [->|N].
  - apply Some_inj in E. subst. rewrite Z.add_0_r. tauto.
  - destruct H as [_ H]. specialize (IH (i + 1)%Z (j - 1)%Z a H E). replace (i + 1 + (j - 1))%Z with (i + j)%Z in IH by lia. exact IH.
Qed.
Lemma dist_ok rows m x z a : rows_ok 0 rows m -> dist rows x z = Some a -> (m z - m x <= a)%Z.
Proof. unfold dist. intros H E. destruct (nthz x rows) as [row|] eqn:R0; [|discriminate]. pose proof (rows_nth _ _ _ _ _ H R0) as K. apply (highs_nth _ _ _ _ _ K E). Qed.
Lemma cap_ok c m ms : (ms <= c)%Z -> forall row hs i, highs i row (fun x => m x - ms)%Z -> highs i hs m -> highs i (cap c row hs) m.
Proof. intros C. induction row as [|a row IH]; destruct hs as [|h hs]; simpl; intros i H K; auto. split; [lia|]. apply IH; tauto. Qed.
Lemma lift_ok x c m : (c <= m x)%Z -> forall rows ls i, rows_ok i rows m -> lows i ls m -> lows i (lift x c rows ls) m.
Proof.
  intros C. induction rows as [|row rows IH]; destruct ls as [|l ls]; simpl; intros i H K; auto. split; [|apply IH; tauto].
  destruct (nthz x row) as [a|] eqn:E; [|tauto]. destruct H as [H _]. pose proof (highs_nth _ _ _ _ _ H E) as B. simpl in B. lia.
Qed.
Lemma close_ok rows m : rows_ok 0 rows m -> forall b i ls, lows i b m -> lows 0 ls m -> lows 0 (close_least rows i b ls) m.
Proof. intros H. induction b as [|c b IH]; simpl; intros i ls B L; auto. apply IH; [tauto|]. apply lift_ok; tauto. Qed.
Lemma shifted_ok c m ms : (ms <= c)%Z -> forall row i, highs i row (fun x => m x - ms)%Z -> highs i (map (Z.add c) row) m.
Proof. intros C. induction row as [|a row IH]; simpl; intros i H; auto. split; [lia|]. apply IH; tauto. Qed.
Lemma roots_cover rows b m : rows_ok 0 rows m -> forall ss low l, lows 0 low m -> lab_roots rows b ss low = Some l ->
  (exists s c, In s ss /\ nthz s b = Some c /\ (m s <= c)%Z) -> exists st, In st l /\ lows 0 (lo st) m /\ highs 0 (hi st) m.
Proof.
  intros H. induction ss as [|s ss IH]; simpl; intros low l L E (s' & c' & I & B & M); [tauto|].
  destruct (nthz s rows) as [row|] eqn:R0; [|discriminate]. destruct (nthz s b) as [c|] eqn:B0; [|discriminate].
  destruct (lab_roots rows b ss (lift s (c + 1) rows low)) as [l'|] eqn:E'; [|discriminate]. apply Some_inj in E. subst l.
  destruct (Z.le_gt_cases (m s) c) as [Q|Q].
  - eexists. split; [now left|]. split; [exact L|]. simpl. apply (shifted_ok c m (m s) Q). apply (rows_nth m rows 0 s row H R0).
  - destruct I as [->|I]; [rewrite B0 in B; apply Some_inj in B; lia|]. destruct (IH _ _ (lift_ok s (c + 1) m ltac:(lia) rows low 0%Z H L) E') as (st & J & K); eauto.
    exists st. split; auto. now right.
Qed.

(* ---- tables ---- *)
Fixpoint sums (i : Z) (tabs : list (Z * list Z)) (m : Z -> Z) (r : Z) : Prop := match tabs with [] => r = 0%Z
  | (l, t) :: tabs => exists h r', nthz (m i - l) t = Some h /\ sums (i + 1) tabs m r' /\ r = (h + r')%Z end.
Lemma sums_upd f m c : forall tabs i r x l t, sums i tabs m r -> nthz x tabs = Some (l, t) ->
  (forall h, nthz (m (i + x) - l) t = Some h -> nthz (m (i + x) - fst (f (l, t))) (snd (f (l, t))) = Some (h + c h))%Z ->
  exists h, nthz (m (i + x) - l)%Z t = Some h /\ sums i (updz x f tabs) m (r + c h)%Z.
Proof.
  induction tabs as [|[l0 t0] tabs IH]; simpl; intros i r x l t H E F; [discriminate|]. destruct H as (h & r' & A & B & ->).
  destruct (Z.eqb_spec x 0) as [->|N].
  - apply Some_inj in E. injection E as -> ->. rewrite Z.add_0_r in *. exists h. split; auto. destruct (f (l, t)) as [l1 t1] eqn:G. simpl in F.
    exists (h + c h)%Z, r'. split; [now apply F|]. split; auto. lia.
  - destruct (IH (i + 1)%Z r' (x - 1)%Z l t B E) as (h' & A' & S').
    { replace (i + 1 + (x - 1))%Z with (i + x)%Z by lia. exact F. }
    replace (i + 1 + (x - 1))%Z with (i + x)%Z in A' by lia. exists h'. split; auto. exists h, (r' + c h')%Z. split; auto. split; auto. lia.
Qed.
Lemma nthz_upd {A} (f : A -> A) : forall l x z, nthz z (updz x f l) = match nthz z l with Some a => Some (if (z =? x)%Z then f a else a) | None => None end.
Proof.
  induction l as [|a l IH]; simpl; intros x z; auto. destruct (Z.eqb_spec x 0) as [->|N]; simpl.
  - destruct (Z.eqb_spec z 0) as [->|M]; auto. destruct (nthz (z - 1) l) eqn:E; auto.
  - destruct (Z.eqb_spec z 0) as [->|M]; [destruct (Z.eqb_spec 0 x); auto; lia|]. rewrite IH. destruct (nthz (z - 1) l); auto.
    destruct (Z.eqb_spec (z - 1) (x - 1)), (Z.eqb_spec z x); auto; lia.
Qed.
Lemma known_upd f x z tabs : known_at x (updz z f tabs) = known_at x tabs.
Proof. unfold known_at. rewrite nthz_upd. destruct (nthz x tabs); auto. Qed.
Lemma raised_nth y j : forall t i p h, nthz p t = Some h -> nthz p (raised y j i t) = Some (if (j <=? i + p)%Z then h + y else h)%Z.
Proof.
  induction t as [|a t IH]; simpl; intros i p h E; [discriminate|]. destruct (Z.eqb_spec p 0) as [->|N].
  - apply Some_inj in E. subst. now rewrite Z.add_0_r.
  - rewrite (IH (i + 1)%Z _ _ E). now replace (i + 1 + (p - 1))%Z with (i + p)%Z by lia.
Qed.
Lemma summed_nth g : forall t i p h, nthz p t = Some h -> nthz p (summed g i t) = Some (h + g (i + p))%Z.
Proof.
  induction t as [|a t IH]; simpl; intros i p h E; [discriminate|]. destruct (Z.eqb_spec p 0) as [->|N].
  - apply Some_inj in E. subst. now rewrite Z.add_0_r.
  - rewrite (IH (i + 1)%Z _ _ E). now replace (i + 1 + (p - 1))%Z with (i + p)%Z by lia.
Qed.
Lemma zeros_nth : forall (t : list Z) p h, nthz p t = Some h -> nthz p (zeros t) = Some 0%Z.
Proof. induction t as [|a t IH]; simpl; intros p h E; [discriminate|]. destruct (p =? 0)%Z; auto. eapply IH; eauto. Qed.
Lemma pick_in a b : forall t i p h, nthz p t = Some h -> (a <= i + p <= b)%Z -> In h (pick a b i t).
Proof.
  induction t as [|c t IH]; simpl; intros i p h E H; [discriminate|]. destruct (Z.eqb_spec p 0) as [->|N].
  - apply Some_inj in E. subst. destruct (Z.leb_spec a i), (Z.leb_spec i b); try lia. now left.
  - specialize (IH (i + 1)%Z (p - 1)%Z h E ltac:(lia)). destruct ((a <=? i) && (i <=? b))%Z%bool; [now right|auto].
Qed.
Lemma maxz_ge h : forall l, In h l -> (h <= maxz l)%Z.
Proof.
  induction l as [|b l IH]; [simpl; tauto|]. destruct l as [|c l]. { intros [->|[]]. simpl. lia. }
  change (maxz (b :: c :: l)) with (Z.max b (maxz (c :: l))). intros [->|I]; [lia|]. specialize (IH I). lia.
Qed.
Lemma add_ok x y j tabs m r : sums 0 tabs m r -> known_at x tabs = true -> sums 0 (add_at x y j tabs) m (r + (if (j <=? m x)%Z then y else 0))%Z.
Proof.
  unfold known_at, add_at. intros H K. destruct (nthz x tabs) as [[l t]|] eqn:E; [|discriminate].
  destruct (sums_upd (fun lt => (fst lt, raised y j (fst lt) (snd lt))) m (fun _ => if (j <=? m x)%Z then y else 0%Z) tabs 0%Z r x l t H E) as (h & _ & S); auto.
  simpl. intros h A. rewrite (raised_nth y j t l _ h A). replace (l + (m x - l))%Z with (m x) by lia. destruct (j <=? m x)%Z; f_equal; lia.
Qed.
Lemma flow_ok x z a m : (m z - m x <= a)%Z -> forall ys j tabs tabs' r, flow_on x z a j ys tabs = Some tabs' -> known_at x tabs = true ->
  known_at z tabs = true -> sums 0 tabs m r -> exists r', (r <= r')%Z /\ sums 0 tabs' m r'.
Proof.
  intros D0. induction ys as [|y ys IH]; simpl; intros j tabs tabs' r E X Z0 S. { apply Some_inj in E. subst. exists r. split; auto. lia. }
  destruct (Z.leb_spec 0 y) as [Y|]; [|discriminate]. pose proof (add_ok x y (j - a) _ _ _ S X) as S1.
  pose proof (add_ok z (- y) j _ _ _ S1 ltac:(unfold add_at; rewrite known_upd; auto)) as S2.
  destruct (IH _ _ _ _ E ltac:(unfold add_at; rewrite !known_upd; auto) ltac:(unfold add_at; rewrite !known_upd; auto) S2) as (r' & A & B).
  exists r'. split; auto. destruct (Z.leb_spec (j - a) (m x)), (Z.leb_spec j (m z)); lia.
Qed.
Lemma flows_ok rows m : rows_ok 0 rows m -> forall fl tabs tabs' r, flows_on rows fl tabs = Some tabs' -> sums 0 tabs m r -> exists r', (r <= r')%Z /\ sums 0 tabs' m r'.
Proof.
  intros H. induction fl as [|[|x [|z [|j ys]]] fl IH]; simpl; intros tabs tabs' r E S; try discriminate. { apply Some_inj in E. subst. exists r. split; auto. lia. }
  destruct (dist rows x z) as [a|] eqn:D0; [|discriminate]. destruct (known_at x tabs && known_at z tabs)%bool eqn:K; [|discriminate]. split_and K.
  destruct (flow_on x z a j ys tabs) as [t|] eqn:F; [|discriminate]. destruct (flow_ok x z a m (dist_ok _ _ _ _ _ H D0) _ _ _ _ _ F K K0 S) as (r1 & A & B).
  destruct (IH _ _ _ E B) as (r2 & C & G). exists r2. split; auto. lia.
Qed.
Lemma links_ok rows m : rows_ok 0 rows m -> forall ls tabs tabs' r, links_on rows ls tabs = Some tabs' -> sums 0 tabs m r -> exists r', (r <= r')%Z /\ sums 0 tabs' m r'.
Proof.
  intros H. induction ls as [|[x z] ls IH]; cbn [links_on]; intros tabs tabs' r E S. { apply Some_inj in E. subst. exists r. split; auto. lia. }
  destruct (dist rows x z) as [a|] eqn:D1; [|discriminate]. destruct (dist rows z x) as [b|] eqn:D2; [|discriminate].
  destruct (nthz x tabs) as [[l t]|] eqn:X; [|discriminate]. destruct (nthz z tabs) as [[l' t']|] eqn:Z0; [|discriminate]. destruct (Z.eqb_spec x z) as [|N]; [discriminate|].
  pose proof (dist_ok _ _ _ _ _ H D1) as A1. pose proof (dist_ok _ _ _ _ _ H D2) as A2. set (g := fun m => maxz (pick (m - a) (m + b) l t)) in *.
  destruct (sums_upd (fun lt => (fst lt, summed g (fst lt) (snd lt))) m (fun _ => g (m z)) tabs 0%Z r z l' t' S Z0) as (h1 & _ & S1).
  { simpl. intros h A. rewrite (summed_nth g t' l' _ h A). now replace (l' + (m z - l'))%Z with (m z) by lia. }
  assert (X1 : nthz x (updz z (fun lt => (fst lt, summed g (fst lt) (snd lt))) tabs) = Some (l, t)). { rewrite nthz_upd, X. destruct (Z.eqb_spec x z); congruence. }
  destruct (sums_upd (fun lt => (fst lt, zeros (snd lt))) m (fun h => (- h)%Z) _ 0%Z _ x l t S1 X1) as (h2 & A & S2).
  { simpl. intros h B. rewrite (zeros_nth _ _ _ B). f_equal. lia. }
  destruct (IH _ _ _ E S2) as (r' & B & C). exists r'. split; auto. simpl in A.
  assert (h2 <= g (m z))%Z; [|lia]. apply maxz_ge. apply (pick_in _ _ t l (m x - l)%Z h2 A). lia.
Qed.
Lemma largest_ok m : forall tabs i r, sums i tabs m r -> (r <= largest tabs)%Z.
Proof.
  induction tabs as [|[l t] tabs IH]; simpl; intros i r H; [lia|]. destruct H as (h & r' & A & B & ->). apply IH in B.
  pose proof (maxz_ge h t (nthz_in _ _ _ A)). lia.
Qed.
Lemma crossed_ok m : forall ls hs i, lows i ls m -> highs i hs m -> crossed ls hs = false.
Proof. induction ls as [|l ls IH]; destruct hs as [|h hs]; simpl; intros i L H; auto. destruct (Z.ltb_spec h l); [lia|]. simpl. eapply IH; [apply L|apply H]. Qed.
Lemma drop_nth {A} : forall (l : list A) i p, (0 <= i)%Z -> (0 <= p)%Z -> nthz p (drop i l) = nthz (i + p) l.
Proof.
  induction l as [|a l IH]; simpl; intros i p I P; destruct (Z.leb_spec i 0) as [Q|Q]; auto.
  - replace (i + p)%Z with p by lia. auto.
  - rewrite IH by lia. destruct (Z.eqb_spec (i + p) 0); [lia|]. f_equal. lia.
Qed.
Lemma cells_nth f h : forall ps m p a, nthz p ps = Some a -> (m + p <= h)%Z -> nthz p (cells f h m ps) = Some (f (m + p)%Z a).
Proof.
  induction ps as [|b ps IH]; simpl; intros m p a E H; [discriminate|]. pose proof (nthz_range (b :: ps) p a) as R0. simpl in R0. specialize (R0 E).
  destruct (Z.leb_spec m h) as [M|M]; [|lia]. simpl. destruct (Z.eqb_spec p 0) as [->|N].
  - apply Some_inj in E. subst. now rewrite Z.add_0_r.
  - rewrite (IH (m + 1)%Z _ _ E) by lia. now replace (m + 1 + (p - 1))%Z with (m + p)%Z by lia.
Qed.
Lemma nthz_some {A} : forall (l : list A) i, (0 <= i < zlen l)%Z -> exists a, nthz i l = Some a.
Proof. induction l as [|a l IH]; cbn [zlen nthz]; intros i H; [lia|]. destruct (Z.eqb_spec i 0); eauto. apply IH. lia. Qed.

(* ---- what a leaf says ---- *)
Fixpoint listed (V : list Z) (i : Z) (F : Z -> R) : list R := match V with [] => [] | _ :: V => F i :: listed V (i + 1) F end.
Lemma len_listed F : forall V i, length (listed V i F) = length V. Proof. induction V; simpl; auto. Qed.
Lemma listed_pos F : (forall x, 0 < F x) -> forall V i, Forall (Rlt 0) (listed V i F). Proof. induction V; simpl; auto. Qed.
Lemma pos_nonneg v : Forall (Rlt 0) v -> Forall (Rle 0) v. Proof. apply Forall_impl. intros. lra. Qed.
Definition rate (st : Z * Z) := IZR (fst st) / IZR (snd st).
Definition pw st (m : Z) := exp (- (rate st * IZR m)).
Lemma pw_pos st m : 0 < pw st m. Proof. apply exp_pos. Qed.
Lemma powers_nth st : (0 < snd st)%Z -> forall ps i j n N, powers_ok st i ps = true -> nthz j ps = Some (n, N) -> IZR n <= DR * pw st (i + j) <= IZR N.
Proof.
  intros S0. pose proof DR_pos as DP. induction ps as [|[n0 N0] ps IH]; cbn [powers_ok nthz]; intros i j n N H E; [discriminate|]. split_and H. destruct (Z.eqb_spec j 0) as [->|J].
  - apply Some_inj in E. injection E as -> ->. rewrite Z.add_0_r. unfold pw. rewrite exp_Ropp. apply IZR_lt in S0.
    assert (X : IZR (i * fst st) / IZR (snd st) = rate st * IZR i) by (unfold rate; rewrite mult_IZR; field; lra). set (x := rate st * IZR i) in *. pose proof (exp_pos x) as PX. split.
    + apply orb_prop in H. destruct H as [H|H].
      * apply Z.eqb_eq in H. subst n. apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat; auto.
      * apply at_least_ok in H. destruct H as (_ & n0 & K). simpl in K. rewrite X in K. apply IZR_lt in n0. fold DR in K. apply (Rmult_le_reg_r (exp x)); auto.
        apply Rmult_le_compat_r with (r := IZR n) in K; [|lra]. replace (DR / IZR n * IZR n) with DR in K by (field; lra). rewrite Rmult_assoc, Rinv_l by lra. lra.
    + apply Sound.at_most_ok in H1. destruct H1 as (_ & N0 & K). simpl in K. rewrite X in K. apply IZR_lt in N0. fold DR in K. apply (Rmult_le_reg_r (exp x)); auto.
      apply Rmult_le_compat_r with (r := IZR N) in K; [|lra]. replace (DR / IZR N * IZR N) with DR in K by (field; lra). rewrite Rmult_assoc, Rinv_l by lra. lra.
  - replace (i + j)%Z with (i + 1 + (j - 1))%Z by lia. eapply IH; eauto.
Qed.
Section Leaves.
Variable en : lenv.
Notation W := (lw en).
Notation T := (lt_ en).
Notation E := (le en).
Notation A := (la en).
Hypothesis S0 : (0 < snd (lstep en))%Z.
Hypothesis PW : powers_ok (lstep en) 0 (lpow en) = true.
Hypothesis HE : (0 < E)%Z.
Hypothesis HT : T = zsum W.
Hypothesis HW : Forall (Z.le 0) W.
Hypothesis LA : length A = length W.
Notation u := (rate (lstep en)).
Notation p := (pw (lstep en)).
Lemma cell_ok w a s m n N : (0 <= w)%Z -> IZR n <= DR * p m <= IZR N ->
  p m * (- (IZR E * IZR w * (u * IZR m)) - IZR E * IZR w * (IZR s * d) - IZR T * IZR a) <= IZR (table_cell en s w a m (n, N)) * d * d.
Proof.
  intros Hw [P1 P2]. unfold table_cell. cbv zeta. set (U := (fst (lstep en) * m * D / snd (lstep en))%Z). set (c := (- (E * w * (U + s) + T * a * D))%Z). cbn [fst snd].
  pose proof (div_lower (fst (lstep en) * m * D) _ S0) as K. fold U in K. rewrite !mult_IZR in K. fold DR in K. pose proof d_pos as dp. pose proof DRd as DD. pose proof (pw_pos (lstep en) m) as PP. fold (p m) in PP.
  assert (UD : IZR U * d <= u * IZR m). { apply Rmult_le_compat_r with (r := d) in K; [|lra]. unfold rate. apply IZR_lt in S0.
    replace (IZR (fst (lstep en)) * IZR m * DR / IZR (snd (lstep en)) * d) with (IZR (fst (lstep en)) / IZR (snd (lstep en)) * IZR m * (DR * d)) in K by (field; pose proof DR_pos; lra). rewrite DD in K. lra. }
  assert (EW : 0 <= IZR E * IZR w). { apply IZR_lt in HE. apply IZR_le in Hw. nra. }
  assert (C : - (IZR E * IZR w * (u * IZR m)) - IZR E * IZR w * (IZR s * d) - IZR T * IZR a <= IZR c * d).
  { unfold c. rewrite opp_IZR, plus_IZR, !mult_IZR, plus_IZR. fold DR. apply Rmult_le_compat_l with (r := IZR E * IZR w) in UD; auto.
    replace (- (IZR E * IZR w * (IZR U + IZR s) + IZR T * IZR a * DR) * d) with (- (IZR E * IZR w * (IZR U * d)) - IZR E * IZR w * (IZR s * d) - IZR T * IZR a * (DR * d)) by ring. rewrite DD. lra. }
  apply Rmult_le_compat_l with (r := p m) in C; [|lra]. eapply Rle_trans; [exact C|].
  assert (PD : p m = DR * p m * d). { replace (DR * p m * d) with (DR * d * p m) by ring. rewrite DD. ring. } destruct (Z.leb_spec 0 c) as [Q|Q]; rewrite mult_IZR.
  - apply IZR_le in Q. apply Rmult_le_compat_r with (r := d) in P2; [|lra]. rewrite <- PD in P2. assert (0 <= IZR c * d) by nra. nra.
  - apply IZR_lt in Q. apply Rmult_le_compat_r with (r := d) in P1; [|lra]. rewrite <- PD in P1. assert (IZR c * d <= 0) by nra. nra.
Qed.
Notation vec V i m := (listed V i (fun x => p (m x))).
Lemma tables_ok s m : forall V B ls hs i, Forall (Z.le 0) V -> length B = length V -> length ls = length V -> length hs = length V -> Forall (Z.le 0) ls ->
  Forall (fun h => (h < zlen (lpow en))%Z) hs -> lows i ls m -> highs i hs m -> exists r, sums i (tables en s V B ls hs) m r /\
    IZR E * zphi Entropic V (vec V i m) - IZR E * (IZR s * d) * dot V (vec V i m) - IZR T * dot B (vec V i m) <= IZR r * d * d.
Proof.
  induction V as [|w V IH]; intros [|a B] [|l ls] [|h hs] i HV L1 L2 L3 N1 N2 X1 X2; try discriminate. { exists 0%Z. simpl. split; auto. lra. }
  inversion HV as [|? ? V0 HV']; inversion N1 as [|? ? N0 N1']; inversion N2 as [|? ? Hh N2']; subst. cbn [lows highs] in X1, X2. destruct X1 as [Y1 X1], X2 as [Y2 X2].
  destruct (IH B ls hs (i + 1)%Z HV' ltac:(simpl in L1; lia) ltac:(simpl in L2; lia) ltac:(simpl in L3; lia) N1' N2' X1 X2) as (r & A1 & A2).
  destruct (nthz_some (lpow en) (m i) ltac:(lia)) as ([n N] & Q). pose proof (powers_nth _ S0 _ 0 (m i) n N PW Q) as K. simpl in K.
  exists (table_cell en s w a (m i) (n, N) + r)%Z. split.
  - cbn [tables sums]. exists (table_cell en s w a (m i) (n, N)), r. split; auto.
    replace (table_cell en s w a (m i) (n, N)) with (table_cell en s w a (l + (m i - l)) (n, N)) by (f_equal; lia). apply cells_nth; [|lia].
    rewrite drop_nth by lia. now replace (l + (m i - l))%Z with (m i) by lia.
  - cbn [listed zphi dot]. pose proof (cell_ok w a s (m i) n N V0 K) as C. rewrite plus_IZR. unfold phi. assert (LN : ln (p (m i)) = - (u * IZR (m i))) by (unfold pw; apply ln_exp).
    rewrite LN. lra.
Qed.
Definition pays_at m := IZR E * information [W] (vec W 0%Z m) <= IZR T * dot A (vec W 0%Z m).
Lemma lab_leaf_ok t fl st m : lab_leaf en t fl st = true -> rows_ok 0 (away en) m -> lows 0 (lo st) m -> highs 0 (hi st) m -> pays_at m.
Proof.
  unfold lab_leaf. intros H R0 L0 H0. rewrite (crossed_ok m _ _ _ L0 H0) in H. simpl in H. split_and H. apply alike_len in H2, H3. apply nonneg_all in H.
  destruct (log_below t D) as [l|] eqn:G; [|discriminate]. destruct (flows_on (away en) fl (tables en (D + l) W A (lo st) (hi st))) as [t1|] eqn:F; [|discriminate].
  destruct (links_on (away en) (llinks en) t1) as [t2|] eqn:K; [|discriminate]. apply Z.leb_le in H1.
  destruct (tables_ok (D + l) m W A (lo st) (hi st) 0 HW LA ltac:(lia) ltac:(lia) H) as (r & S & B); auto.
  { apply Forall_forall. rewrite forallb_forall in *. intros y I. apply Z.ltb_lt. auto. }
  destruct (flows_ok _ _ R0 _ _ _ _ F S) as (r1 & A1 & S1). destruct (links_ok _ _ R0 _ _ _ _ K S1) as (r2 & A2 & S2). pose proof (largest_ok _ _ _ _ S2) as A3.
  set (v := vec W 0%Z m) in *. assert (Pv : Forall (Rlt 0) v) by (apply listed_pos; intros; apply pw_pos). assert (Lv : length v = length W) by apply len_listed.
  destruct (tangents_ok v (pos_nonneg v Pv) [W] [t] (zeros W) 0%Z (zplus (zeros W) (zscale (D + l) W)) (0 + zsum W * t)%Z) as [_ I].
  { constructor; [split; auto|constructor]. } { rewrite len_zeros. auto. } { simpl. now rewrite G. }
  rewrite dot_zplus, dot_zeros, dot_scale in I by (rewrite len_zeros, len_scale; auto). simpl (total _ _) in I. rewrite Z.add_0_l, mult_IZR, <- HT in I.
  unfold pays_at. fold v. set (X := information [W] v) in *. rewrite plus_IZR in I, B. fold DR in I, B. pose proof d_pos as dp. pose proof HE as HE'. apply IZR_lt in HE'.
  assert (Z1 : (E * T * t * D + r <= 0)%Z) by lia. apply IZR_le in Z1. rewrite plus_IZR, !mult_IZR in Z1. fold DR in Z1.
  apply Rmult_le_compat_l with (r := IZR E) in I; [|lra]. apply Rmult_le_compat_r with (r := d * d) in Z1; [|nra].
  replace ((IZR E * IZR T * IZR t * DR + IZR r) * (d * d)) with (IZR E * IZR T * IZR t * d * (DR * d) + IZR r * d * d) in Z1 by ring. rewrite DRd in Z1.
  lra.
Qed.
Definition lgood st := forall m, rows_ok 0 (away en) m -> lows 0 (lo st) m -> highs 0 (hi st) m -> pays_at m.
Lemma lab_run_ok : forall toks stack, lab_run en toks stack = true -> Forall lgood stack.
Proof.
  induction toks as [|tok toks IH]; intros [|st stack] H; simpl in H; try discriminate; auto.
  destruct (lab_step en tok st) as [l|] eqn:Q; [|discriminate]. apply IH in H. apply Forall_app in H. destruct H as [H1 H2]. constructor; auto.
  intros m R0 L0 H0. destruct tok as [x c|t fl]; cbn [lab_step] in Q.
  - destruct (nthz x (away en)) as [row|] eqn:X; [|discriminate]. apply Some_inj in Q. subst l. inversion H1 as [|? ? G1 G']; inversion G' as [|? ? G2 _]; subst.
    pose proof (rows_nth m _ 0 x row R0 X) as K. destruct (Z.le_gt_cases (m x) c) as [M|M].
    + apply G1; auto. simpl. now apply (cap_ok c m (m x)).
    + apply G2; auto. simpl. apply lift_ok; auto. lia.
  - destruct (lab_leaf en t fl st) eqn:F; [|discriminate]. eapply lab_leaf_ok; eauto.
Qed.
End Leaves.

(* ---- a linear function that is at most 0 at each column R^-m is so at each column of the cone ---- *)
Fixpoint sumF (i : Z) (g : list R) (F : Z -> R) : R := match g with [] => 0 | c :: g => c * F i + sumF (i + 1) g F end.
Fixpoint above_of (t : R) (l : list (R * R)) : R := match l with [] => 0 | (b, h) :: l => (if Rlt_dec t h then b else 0) + above_of t l end.
Fixpoint weighed (t : R) (l : list (R * R)) : R := match l with [] => 0 | (b, h) :: l => b * (h - t) + weighed t l end.
Lemma above_app t : forall l l', above_of t (l ++ l') = above_of t l + above_of t l'. Proof. induction l as [|[b h] l IH]; simpl; intros; [lra|]. rewrite IH. lra. Qed.
Lemma weighed_app t : forall l l', weighed t (l ++ l') = weighed t l + weighed t l'. Proof. induction l as [|[b h] l IH]; simpl; intros; [lra|]. rewrite IH. lra. Qed.
Lemma above_all t : forall l, (forall b h, In (b, h) l -> t < h) -> above_of t l = total fst l.
Proof. induction l as [|[b h] l IH]; simpl; intros H; auto. rewrite IH by eauto. destruct (Rlt_dec t h) as [|N]; auto. exfalso. apply N. eauto. Qed.
Lemma weighed_shift s t : forall l, weighed s l = weighed t l + (t - s) * total fst l. Proof. induction l as [|[b h] l IH]; simpl; [lra|]. rewrite IH. lra. Qed.
Lemma least_pair : forall l : list (R * R), l <> [] -> exists l1 b h l2, l = l1 ++ (b, h) :: l2 /\ forall b' h', In (b', h') l -> h <= h'.
Proof.
  induction l as [|[b h] l IH]; [congruence|]. intros _. destruct l as [|c l]. { exists [], b, h, []. split; auto. intros b' h' [Q|[]]. injection Q as <- <-. lra. }
  destruct IH as (l1 & b1 & h1 & l2 & Q & K); [discriminate|]. destruct (Rle_dec h h1) as [L|L].
  - exists [], b, h, (c :: l). split; auto. intros b' h' [X|I]; [injection X as <- <-; lra|]. pose proof (K b' h' I). lra.
  - exists ((b, h) :: l1), b1, h1, l2. split; [simpl; now rewrite Q|]. intros b' h' [X|I]; [injection X as <- <-; lra|]. now apply (K b').
Qed.
Lemma threshold H c : forall n l t, length l = n -> t <= H -> (forall b h, In (b, h) l -> t <= h <= H) ->
  (forall s, t <= s < H -> c + above_of s l <= 0) -> c * (H - t) + weighed t l <= 0.
Proof.
  induction n as [|n IH]; intros l t L TH B K.
  - destruct l; [|discriminate]. simpl in *. destruct (Rlt_dec t H) as [Q|Q]; [specialize (K t ltac:(lra)); nra|]. replace H with t by lra. lra.
  - destruct (least_pair l) as (l1 & b & h & l2 & Q & M). { destruct l; discriminate. }
    assert (Hh : t <= h <= H). { apply (B b). rewrite Q. apply in_elt. }
    assert (Sub : forall p, In p (l1 ++ l2) -> In p l). { intros p I. rewrite Q. apply in_app_iff in I. apply in_app_iff. simpl. tauto. }
    assert (I : c * (H - h) + weighed h (l1 ++ l2) <= 0).
    { apply IH; [|lra| |].
      - rewrite Q, app_length in L. rewrite app_length. simpl in L. lia.
      - intros b' h' J. split; [apply (M b')|apply (B b')]; auto.
      - intros s Hs. specialize (K s ltac:(lra)). rewrite Q, above_app in K. simpl in K. destruct (Rlt_dec s h); [lra|]. rewrite above_app. lra. }
    assert (X : weighed t l = weighed h (l1 ++ l2) + (h - t) * (total fst (l1 ++ l2) + b)).
    { rewrite Q, weighed_app. simpl. rewrite (weighed_shift t h l1), (weighed_shift t h l2), weighed_app. assert (TA : total fst (l1 ++ l2) = total fst l1 + total fst l2).
      { clear. induction l1 as [|a l1 IH]; simpl; [lra|]. rewrite IH. lra. } rewrite TA. ring. }
    rewrite X. destruct (Rlt_dec t h) as [Y|Y]; [|replace t with h in * by lra; lra].
    specialize (K t ltac:(lra)). rewrite above_all in K by (intros b' h' J; pose proof (M b' h' J); lra).
    assert (TB : total fst l = total fst (l1 ++ l2) + b). { rewrite Q. clear. induction l1 as [|a l1 IH]; simpl; [lra|]. rewrite IH. lra. } rewrite TB in K.
    assert ((h - t) * (c + (total fst (l1 ++ l2) + b)) <= 0) by nra. lra.
Qed.
Section Mean.
Variables (st : Z * Z) (edges : list (Z * Z * Z)) (q : Z -> R).
Notation u := (rate st).
Hypothesis u0 : 0 < u.
Hypothesis q0 : forall x, 0 < q x.
Hypothesis Hq : forall x z l, In (x, z, l) edges -> q x <= exp (u * IZR l) * q z.
Definition ex x := - ln (q x) / u.
Definition nx x := Int_part (ex x).
Definition fx x := ex x - IZR (nx x).
Definition e1 := exp (- u).
Definition hx x := (exp (- (u * fx x)) - e1) / (1 - e1).
Lemma fx_range x : 0 <= fx x < 1. Proof. unfold fx, nx. destruct (base_Int_part (ex x)). lra. Qed.
Lemma e1_range : 0 < e1 < 1. Proof. unfold e1. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra. Qed.
Lemma exp_le a b : a <= b -> exp a <= exp b. Proof. intros [H| ->]; [left; now apply exp_increasing|lra]. Qed.
Lemma hx_range x : 0 <= hx x <= 1.
Proof.
  destruct (fx_range x), e1_range. assert (e1 <= exp (- (u * fx x)) <= 1). { split; [apply exp_le; nra|]. rewrite <- exp_0. apply exp_le. nra. }
  unfold hx. split; [apply Rmult_le_pos; [lra|]; apply Rlt_le, Rinv_0_lt_compat; lra|]. apply (Rmult_le_reg_r (1 - e1)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Lemma hx_mono x z : fx z <= fx x -> hx x <= hx z.
Proof. intros H. destruct e1_range. unfold hx. apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; lra|]. assert (exp (- (u * fx x)) <= exp (- (u * fx z))) by (apply exp_le; nra). lra. Qed.
Lemma q_parts x : q x = pw st (nx x) * (e1 + (1 - e1) * hx x).
Proof.
  destruct e1_range. replace (e1 + (1 - e1) * hx x) with (exp (- (u * fx x))) by (unfold hx; field; lra). unfold pw. rewrite <- exp_plus.
  replace (- (u * IZR (nx x)) + - (u * fx x)) with (ln (q x)) by (unfold fx, ex; field; lra). now rewrite exp_ln.
Qed.
Definition lab t x := (if Rlt_dec t (hx x) then nx x else nx x + 1)%Z.
Lemma lab_parts t x : pw st (lab t x) = pw st (nx x) * (e1 + (1 - e1) * (if Rlt_dec t (hx x) then 1 else 0)).
Proof.
  unfold lab. destruct (Rlt_dec t (hx x)); [ring|]. unfold pw, e1. rewrite Rmult_0_r, Rplus_0_r, <- exp_plus. f_equal. rewrite plus_IZR. ring.
Qed.
Lemma lab_edge t x z l : In (x, z, l) edges -> (lab t z - lab t x <= l)%Z.
Proof.
  intros I. apply Hq in I. assert (K : ex z - ex x <= IZR l).
  { assert (L : ln (q x) <= ln (exp (u * IZR l) * q z)) by (destruct I as [I|I]; [left; apply ln_increasing; auto|right; now rewrite I]). clear I. rename L into I. rewrite ln_mult, ln_exp in I; auto using exp_pos. unfold ex. apply (Rmult_le_reg_l u); auto. replace (u * (- ln (q z) / u - - ln (q x) / u)) with (ln (q x) - ln (q z)) by (field; lra). lra. }
  destruct (fx_range x) as [X0 X1], (fx_range z) as [Z0 Z1]. unfold fx in X0, X1, Z0, Z1. assert (C : (nx z - nx x < l + 1)%Z). { apply lt_IZR. rewrite minus_IZR, plus_IZR. lra. }
  destruct (Z.eq_dec (nx z - nx x) l) as [E|E]; [|unfold lab; destruct (Rlt_dec t (hx z)), (Rlt_dec t (hx x)); lia].
  assert (F : fx z <= fx x). { unfold fx. assert (Y : IZR (nx z) - IZR (nx x) = IZR l) by (rewrite <- E, minus_IZR; lra). lra. } apply hx_mono in F.
  unfold lab. destruct (Rlt_dec t (hx z)), (Rlt_dec t (hx x)); try lia. lra.
Qed.
Fixpoint pairs_of (i : Z) (g : list R) : list (R * R) := match g with [] => [] | c :: g => (c * pw st (nx i) * (1 - e1), hx i) :: pairs_of (i + 1) g end.
Lemma mean_ok g : (forall m, (forall x z l, In (x, z, l) edges -> (m z - m x <= l)%Z) -> sumF 0 g (fun x => pw st (m x)) <= 0) -> sumF 0 g q <= 0.
Proof.
  intros H. assert (A : forall t g i, sumF i g (fun x => pw st (lab t x)) = sumF i g (fun x => pw st (nx x) * e1) + above_of t (pairs_of i g)).
  { intros t g0. induction g0 as [|c g0 IH]; simpl; intros i; [lra|]. rewrite IH, lab_parts. destruct (Rlt_dec t (hx i)); ring. }
  assert (B : forall g i, sumF i g q = sumF i g (fun x => pw st (nx x) * e1) + weighed 0 (pairs_of i g)).
  { intros g0. induction g0 as [|c g0 IH]; simpl; intros i; [lra|]. rewrite IH, q_parts. ring. }
  rewrite B. pose proof (threshold 1 (sumF 0 g (fun x => pw st (nx x) * e1)) _ (pairs_of 0 g) 0 eq_refl ltac:(lra)) as K.
  assert (C : forall g i b h, In (b, h) (pairs_of i g) -> 0 <= h <= 1).
  { intros g0. induction g0 as [|c g0 IH]; simpl; intros i b h; [tauto|]. intros [X|I]; [injection X as <- <-; apply hx_range|eauto]. }
  specialize (K (C g 0%Z)). assert (0 <= 1) by lra. enough (sumF 0 g (fun x => pw st (nx x) * e1) * (1 - 0) + weighed 0 (pairs_of 0 g) <= 0) by lra. apply K.
  intros s _. rewrite <- A. apply H. intros x z l. apply lab_edge.
Qed.
End Mean.

(* ---- each column of the cone ---- *)
Lemma is_long_ok st r l : (0 < fst st)%Z -> (0 < snd st)%Z -> is_long st r l = true -> ratioR r <= exp (rate st * IZR l).
Proof.
  intros F0 S0. unfold is_long, rate. intros H. split_and H. apply Z.leb_le, IZR_le in H. apply IZR_lt in F0, S0. destruct r as [a b|a b]; simpl; split_and H0; apply Z.ltb_lt, IZR_lt in H0.
  - apply Z.leb_le, IZR_le in H1. apply exp_le. rewrite !mult_IZR in H1. apply (Rmult_le_reg_r (IZR b * IZR (snd st))); [nra|].
    replace (IZR a / IZR b * (IZR b * IZR (snd st))) with (IZR a * IZR (snd st)) by (field; lra).
    replace (IZR (fst st) / IZR (snd st) * IZR l * (IZR b * IZR (snd st))) with (IZR l * IZR (fst st) * IZR b) by (field; lra). lra.
  - apply orb_prop in H1. destruct H1 as [H1|H1].
    + apply Z.leb_le, IZR_le in H1. apply Rle_trans with 1.
      * apply (Rmult_le_reg_r (IZR b)); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
      * rewrite <- exp_0. apply exp_le. apply Rmult_le_pos; auto. apply Rlt_le, Rdiv_lt_0_compat; auto.
    + apply Sound.at_most_ok in H1. destruct H1 as (_ & _ & K). simpl in K. rewrite mult_IZR in K.
      replace (IZR (fst st) / IZR (snd st) * IZR l) with (IZR l * IZR (fst st) / IZR (snd st)) by (field; lra). exact K.
Qed.
Lemma lab_edges_ok st k : (0 < fst st)%Z -> (0 < snd st)%Z -> forall es ls t, lab_edges st k es ls = Some t -> forall x z l, In (x, z, l) t ->
  exists r, In (x, z, r) es /\ ratioR r <= exp (rate st * IZR l) /\ (0 <= x < k)%Z /\ (0 <= z < k)%Z.
Proof.
  intros F0 S0. induction es as [|[[a b] r] es IH]; intros [|l0 ls] t H x z l I; simpl in H; try discriminate. { apply Some_inj in H. subst. destruct I. }
  destruct (is_long st r l0 && (0 <=? a)%Z && (a <? k)%Z && (0 <=? b)%Z && (b <? k)%Z)%bool eqn:Q; [|discriminate].
  destruct (lab_edges st k es ls) as [t'|] eqn:J; [|discriminate]. apply Some_inj in H. subst t. destruct I as [I|I].
  - injection I as -> -> ->. split_and Q. apply Z.leb_le in Q3, Q1. apply Z.ltb_lt in Q0, Q2. exists r. split; [now left|]. split; [now apply is_long_ok|lia].
  - destruct (IH _ _ J _ _ _ I) as (r' & A & B). exists r'. split; auto. now right.
Qed.
Lemma reach_ok (P : Z -> Z -> Prop) t : (forall e x z l a, find e t = Some (x, z, l) -> P x a -> P z (a + l)%Z /\ (0 <= z)%Z) -> forall es g g',
  (forall x a, find x g = Some a -> P x a) -> reach t es g = Some g' -> forall x a, find x g' = Some a -> P x a.
Proof.
  intros H. induction es as [|e es IH]; simpl; intros g g' G E. { apply Some_inj in E. now subst. }
  destruct (find e t) as [[[x z] l]|] eqn:F; [|discriminate]. destruct (find x g) as [a|] eqn:X; [|discriminate]. destruct (H _ _ _ _ a F (G _ _ X)) as [K Z0].
  apply (IH (put z (a + l)%Z g)); auto. intros y b. destruct (Z.eq_dec z y) as [->|N].
  - rewrite find_put by auto. intros Q. apply Some_inj in Q. now subst.
  - rewrite find_other by auto. apply G.
Qed.
Lemma start_at (P : Z -> Z -> Prop) s : (0 <= s)%Z -> P s 0%Z -> forall x a, find x (put s 0%Z Tip) = Some a -> P x a.
Proof.
  intros S0 P0 x a. destruct (Z.eq_dec s x) as [->|N]. - rewrite find_put by auto. intros Q. apply Some_inj in Q. now subst.
  - rewrite find_other by auto. rewrite find_tip. discriminate.
Qed.
Lemma collect_ok f g : (forall x a, find x g = Some a -> (f x <= a)%Z) -> forall V i row, collect i V g = Some row -> highs i row f.
Proof.
  intros H. induction V as [|w V IH]; simpl; intros i row E. { apply Some_inj in E. now subst. }
  destruct (find i g) as [a|] eqn:F; [|discriminate]. destruct (collect (i + 1) V g) as [l|] eqn:C; [|discriminate]. apply Some_inj in E. subst row. simpl. auto.
Qed.
Lemma collect_all g : forall V i row, collect i V g = Some row -> forall x, (i <= x < i + zlen V)%Z -> exists a, find x g = Some a.
Proof.
  induction V as [|w V IH]; cbn [collect zlen]; intros i row E x X; [lia|]. destruct (find i g) as [a|] eqn:F; [|discriminate].
  destruct (collect (i + 1) V g) as [l|] eqn:C; [|discriminate]. destruct (Z.eq_dec x i) as [->|N]; eauto. apply (IH _ _ C). lia.
Qed.
Lemma away_rows t V m : (forall e x z l, find e t = Some (x, z, l) -> (m z - m x <= l)%Z /\ (0 <= z)%Z) -> forall ts s rows, (0 <= s)%Z -> all_away t V s ts = Some rows -> rows_ok s rows m.
Proof.
  intros H. induction ts as [|es ts IH]; simpl; intros s rows S0 E. { apply Some_inj in E. now subst. }
  destruct (reach t es (put s 0%Z Tip)) as [g|] eqn:R0; [|discriminate]. destruct (collect 0 V g) as [row|] eqn:C; [|discriminate].
  destruct (all_away t V (s + 1) ts) as [l|] eqn:L; [|discriminate]. apply Some_inj in E. subst rows. split; [|apply IH; auto; lia]. eapply collect_ok; [|exact C].
  assert (Q : (m s - m s <= 0)%Z) by lia. refine (reach_ok (fun x a => (m x - m s <= a)%Z) t _ es _ g (start_at (fun x a => (m x - m s <= a)%Z) s S0 Q) R0).
  intros e x z l' a F P0. destruct (H _ _ _ _ F). split; auto. lia.
Qed.
Lemma away_zero (Zp : Z -> Prop) t V : (forall e x z l, find e t = Some (x, z, l) -> (Zp z -> Zp x) /\ (0 <= z)%Z) -> forall ts s rows, (0 <= s)%Z -> all_away t V s ts = Some rows ->
  forall s' x, (s <= s' < s + zlen ts)%Z -> (0 <= x < zlen V)%Z -> Zp x -> Zp s'.
Proof.
  intros H. induction ts as [|es ts IH]; cbn [all_away zlen]; intros s rows S0 E s' x Hs Hx Px; [lia|].
  destruct (reach t es (put s 0%Z Tip)) as [g|] eqn:R0; [|discriminate]. destruct (collect 0 V g) as [row|] eqn:C; [|discriminate].
  destruct (all_away t V (s + 1) ts) as [l|] eqn:L; [|discriminate]. destruct (Z.eq_dec s' s) as [->|N]; [|apply (IH (s + 1)%Z l ltac:(lia) L s' x); auto; lia].
  destruct (collect_all g V 0%Z row C x ltac:(lia)) as [a F]. revert Px.
  refine (reach_ok (fun x _ => Zp x -> Zp s) t _ es _ g (start_at (fun x _ => Zp x -> Zp s) s S0 (fun Px => Px)) R0 x a F).
  intros e x' z l' a' G P0. destruct (H _ _ _ _ G). split; auto.
Qed.
Lemma min_shift m : forall b i, b <> [] -> exists c j bj, nthz j b = Some bj /\ lows i b (fun x => m x - c)%Z /\ (m (i + j) - c <= bj)%Z.
Proof.
  induction b as [|a b IH]; [congruence|]. intros i _. destruct b as [|a' b].
  - exists (m i - a)%Z, 0%Z, a. simpl. rewrite Z.add_0_r. repeat split; lia.
  - destruct (IH (i + 1)%Z ltac:(discriminate)) as (c & j & bj & E & L & M). set (b' := a' :: b) in *. pose proof (nthz_range _ _ _ E) as J.
    destruct (Z.le_gt_cases a (m i - c)) as [Q|Q].
    + exists c, (j + 1)%Z, bj. split; [|split; [split; auto|]].
      * simpl. destruct (Z.eqb_spec (j + 1) 0); [lia|]. now replace (j + 1 - 1)%Z with j by lia.
      * now replace (i + (j + 1))%Z with (i + 1 + j)%Z by lia.
    + exists (m i - a)%Z, 0%Z, a. split; [reflexivity|]. split; [|rewrite Z.add_0_r; lia]. split; [lia|]. clear - L Q. revert L. generalize (i + 1)%Z.
      induction b' as [|e b' IH]; simpl; intros i' L; auto. split; [lia|]. apply IH. tauto.
Qed.
(* sum over x of V_x v_x log (p_x / w) *)
Fixpoint cross (V : list Z) (w : R) (p v : list R) : R := match V, p, v with c :: V, y :: p, z :: v => IZR c * (z * ln (y / w)) + cross V w p v | _, _, _ => 0 end.
Lemma cross_self w : forall V q, cross V w q q = relative V w q. Proof. induction V; destruct q; simpl; auto. rewrite IHV. auto. Qed.
Lemma gibbs a b : 0 < a -> 0 < b -> forall V p v, Forall (Z.le 0) V -> Forall (Rlt 0) p -> Forall (Rlt 0) v -> length p = length V -> length v = length V ->
  cross V a p v + dot V v - b / a * dot V p <= relative V b v.
Proof.
  intros a0 b0. induction V as [|c V IH]; intros [|y p] [|z v] HV Hp Hv L1 L2; simpl in *; try discriminate; [lra|].
  inversion HV as [|? ? C HV']; inversion Hp as [|? ? Y Hp']; inversion Hv as [|? ? Z0 Hv']; subst. specialize (IH p v HV' Hp' Hv' ltac:(lia) ltac:(lia)). apply IZR_le in C.
  assert (A0 : 0 < y / a) by (apply Rdiv_lt_0_compat; auto). assert (B0 : 0 < z / b) by (apply Rdiv_lt_0_compat; auto).
  pose proof (ln_le_sub (y / a * / (z / b)) ltac:(apply Rmult_lt_0_compat; auto using Rinv_0_lt_compat)) as K. rewrite ln_mult, ln_Rinv in K by auto using Rinv_0_lt_compat.
  apply Rmult_le_compat_l with (r := IZR c * z) in K; [|nra]. replace (IZR c * z * (y / a * / (z / b) - 1)) with (IZR c * (b / a * y) - IZR c * z) in K by (field; lra). lra.
Qed.
Fixpoint rates (E T : R) (w : R) (V A : list Z) (p : list R) : list R := match V, A, p with
  | c :: V, a :: A, y :: p => (E * (IZR c * ln (y / w)) - T * IZR a) :: rates E T w V A p | _, _, _ => [] end.
Lemma rates_ok E T w F : forall V A p i, length A = length V -> length p = length V ->
  sumF i (rates E T w V A p) F = E * cross V w p (listed V i F) - T * dot A (listed V i F).
Proof. induction V as [|c V IH]; intros [|a A] [|y p] i L1 L2; simpl in *; try discriminate; [lra|]. rewrite IH by lia. ring. Qed.
Lemma listed_entry (F : Z -> R) : forall q (V : list Z) i, length q = length V -> (forall j, (j < length q)%nat -> F (i + Z.of_nat j)%Z = nth j q 0) -> listed V i F = q.
Proof.
  induction q as [|y q IH]; intros [|c V] i L H; simpl in *; try discriminate; auto. f_equal.
  - specialize (H O ltac:(lia)). simpl in H. now rewrite Z.add_0_r in H.
  - apply IH; [lia|]. intros j J. specialize (H (S j) ltac:(lia)). simpl in H. rewrite <- H. f_equal. lia.
Qed.
Lemma sumF_scale c F G : (forall x, F x = c * G x) -> forall g i, sumF i g F = c * sumF i g G.
Proof. intros H. induction g as [|a g IH]; simpl; intros i; [lra|]. rewrite IH, H. ring. Qed.
Lemma weight_pos V q : Forall (Z.le 0) V -> (0 < zsum V)%Z -> Forall (Rlt 0) q -> length q = length V -> 0 < dot V q.
Proof.
  intros HV S Hq L. destruct (least q) as (i & Li & M). { intros ->. destruct V; [simpl in S; lia|discriminate]. }
  rewrite Forall_forall in Hq. pose proof (Hq _ (nth_In q 0 Li)) as P0. apply IZR_lt in S.
  pose proof (dot_above (nth i q 0) V q HV L ltac:(lra) (all_nth _ q M)) as K. nra.
Qed.
Theorem labelled_sound co N M lb toks : labelled co (N, M) lb toks = true -> forall Q, fits co Q -> nets co Q <= IZR N / IZR M.
Proof.
  unfold labelled, lab_start. cbv zeta. intros H Q [[HQ _] _]. unfold nets, earns. set (pb := plain (inner co)) in *. set (W := weights pb) in *.
  destruct (objective pb) as [| |[|G [|]]|] eqn:OB; try discriminate. destruct (base pb) as [| |es|] eqn:BA; try discriminate.
  destruct (loss co); [discriminate|]. destruct (bonus (inner co)) eqn:BO; [|discriminate].
  match type of H with match (if ?c then _ else _) with _ => _ end = _ => destruct c eqn:C; [|discriminate] end. split_and C.
  rename C0 into COV, C1 into LT, C2 into PO, C3 into S0, C4 into F1, C5 into PAYS, C6 into LL, C7 into LP, C8 into M0, C9 into E0, C10 into WF.
  destruct (lab_edges (step_ lb) (zlen W) es (lengths lb)) as [t|] eqn:LE; [|discriminate]. destruct (all_away (number 0 t Tip) W 0 (trees lb)) as [rows|] eqn:AW; [|discriminate].
  destruct (lab_roots rows (least_ lb) (order lb) (close_least rows 0 (least_ lb) (least_ lb))) as [roots|] eqn:RO; [|discriminate].
  apply same_eq in C. subst G. apply well_formed_ok in WF. apply Z.ltb_lt in E0, M0, F1, S0. simpl in M0. apply alike_len in LP, LL, LT.
  pose proof (fT pb WF) as T0. fold W in T0. pose proof (fW pb WF) as HW. fold W in HW. set (st := step_ lb) in *. assert (u0 : 0 < rate st) by (unfold rate; apply IZR_lt in F1, S0; now apply Rdiv_lt_0_compat).
  set (en := Lenv (lunit lb) (zsum W) W (lprices lb) st rows (powers lb) (links lb)) in *.
  pose proof (lab_run_ok en S0 PO E0 eq_refl HW LP toks roots H) as GOOD.
  assert (X : worth pb Q + entropy [] Q / IZR (zsum []) = worth pb Q) by (rewrite entropy_nil; unfold Rdiv; ring). rewrite X.
  apply (conclude pb (N, M) (Header Box (lunit lb) (lprices lb) [] []) WF E0 Q 0%Z N M eq_refl M0 HQ LP); [simpl; lra|cbn [eunit prices]; rewrite Z.add_0_r; exact PAYS|unfold kind_of; rewrite OB; discriminate|].
  intros q Iq. destruct HQ as [HQ _]. rewrite Forall_forall in HQ. destruct (HQ q Iq) as (Lq & Nq & Cq & _). rewrite BA in Cq. simpl in Cq. fold W in Lq. simpl eunit. simpl prices. fold W.
  assert (EE : earned pb q = information [W] q) by (unfold earned, kind_of, groups_of; now rewrite OB).
  assert (FE : forall e x z l, find e (number 0 t Tip) = Some (x, z, l) -> In (x, z, l) t).
  { intros e x z l F. rewrite find_number, find_tip in F by lia. destruct (nthz (e - 0) t) as [b|] eqn:Z0; [|discriminate]. apply Some_inj in F. subst b. now apply nthz_in in Z0. }
  assert (ED : forall x z l, In (x, z, l) t -> entry x q <= exp (rate st * IZR l) * entry z q /\ (0 <= x < zlen W)%Z /\ (0 <= z < zlen W)%Z).
  { intros x z l I. destruct (lab_edges_ok st (zlen W) F1 S0 _ _ _ LE _ _ _ I) as (r & J & K & X0 & Z0). split; auto. eapply Rle_trans; [apply (Cq _ _ _ J)|]. apply Rmult_le_compat_r; auto. now apply entry_nonneg. }
  destruct (Forall_Exists_dec (Rlt 0) (Rlt_dec 0) q) as [Pq|Zq].
  2: { assert (ZA : Forall (eq 0) q).
    { apply Exists_exists in Zq. destruct Zq as (y & Iy & Ny). destruct (In_nth q y 0 Iy) as (j & Lj & Ey). apply all_nth. intros s Ls.
      assert (K : entry (Z.of_nat s) q = 0).
      { refine (away_zero (fun x => entry x q = 0) (number 0 t Tip) W _ (trees lb) 0%Z rows (Z.le_refl 0) AW (Z.of_nat s) (Z.of_nat j) _ _ _).
        - intros e x z l F. apply FE, ED in F. destruct F as (F & X1 & X2). split; [|lia]. intros EZ. rewrite EZ, Rmult_0_r in F. pose proof (entry_nonneg q x Nq). lra.
        - rewrite zlen_len, LT. lia.
        - rewrite zlen_len. lia.
        - unfold entry. rewrite Nat2Z.id, Ey. rewrite Forall_forall in Nq. pose proof (Nq y Iy). lra. }
      unfold entry in K. rewrite Nat2Z.id in K. now rewrite K. }
    assert (EZ : earned pb q = 0) by (apply earned_zero; auto; rewrite (zero_all q ZA); lra). rewrite (zero_all q ZA), EZ. lra. }
  rewrite EE, dot_scale. set (E := lunit lb) in *. set (A := lprices lb) in *. set (T := zsum W) in *.
  pose proof (weight_pos W q HW T0 Pq Lq) as DQ. pose proof T0 as TR. apply IZR_lt in TR. pose proof E0 as ER. apply IZR_lt in ER.
  set (w := dot W q / IZR T). assert (w0 : 0 < w) by (apply Rdiv_lt_0_compat; auto).
  set (F := fun x => if Rlt_dec 0 (entry x q) then entry x q else 1). assert (F0 : forall x, 0 < F x) by (intros x; unfold F; destruct (Rlt_dec 0 (entry x q)); lra).
  assert (PE : forall x, (0 <= x < zlen W)%Z -> F x = entry x q).
  { intros x X0. unfold F. destruct (Rlt_dec 0 (entry x q)) as [|Nx]; auto. exfalso. apply Nx. unfold entry. rewrite Forall_forall in Pq. apply Pq, nth_In. rewrite zlen_len in X0. lia. }
  assert (LF : listed W 0 F = q). { apply listed_entry; auto. intros j J. rewrite PE by (rewrite zlen_len; lia). unfold entry. now rewrite Z.add_0_l, Nat2Z.id. }
  set (g := rates (IZR E) (IZR T) w W A q). assert (LG : sumF 0 g F = IZR E * information [W] q - IZR T * dot A q).
  { unfold g. rewrite rates_ok, LF, cross_self by auto. unfold information, w. cbn [total]. fold T. lra. }
  assert (K : sumF 0 g F <= 0); [|lra]. apply (mean_ok st t F u0 F0).
  { intros x z l I. destruct (ED _ _ _ I) as (K & X0 & Z0). rewrite !PE by auto. exact K. }
  intros m Hm. destruct (min_shift m (least_ lb) 0%Z) as (c & j & bj & EJ & LB & MJ). { intros Q0. rewrite Q0 in LL. simpl in LL. symmetry in LL. apply length_zero_iff_nil in LL. unfold T in T0. rewrite LL in T0. simpl in T0. lia. }
  set (m' := fun x => (m x - c)%Z) in *. assert (RK : rows_ok 0 rows m').
  { refine (away_rows (number 0 t Tip) W m' _ (trees lb) 0%Z rows (Z.le_refl 0) AW). intros e x z l I. apply FE in I. pose proof (Hm _ _ _ I). destruct (ED _ _ _ I) as (_ & _ & Z0). unfold m'. split; lia. }
  destruct (roots_cover rows (least_ lb) m' RK (order lb) _ roots (close_ok rows m' RK _ _ _ LB LB) RO) as (s & Is & L1 & L2).
  { exists j, bj. split; [|split; [exact EJ|exact MJ]]. rewrite forallb_forall in COV. pose proof (nthz_range _ _ _ EJ) as J0. pose proof (nthz_in _ _ _ EJ) as JI.
    assert (J1 : (j < zlen W)%Z). { rewrite zlen_len, <- LL. clear - EJ. revert j EJ. induction (least_ lb) as [|a l IH]; cbn [nthz length]; intros j EJ; [discriminate|]. destruct (Z.eqb_spec j 0); [lia|]. apply IH in EJ. lia. }
    specialize (COV j). assert (IN : In j (numbers (zlen W) (fun x => x))). { exact (in_iota (fun x => x) (Z.to_nat (zlen W)) 0%Z j ltac:(rewrite Z2Nat.id by lia; lia)). } apply COV in IN. apply existsb_exists in IN. destruct IN as (y & Iy & Ey). apply Z.eqb_eq in Ey. now rewrite Ey. }
  rewrite Forall_forall in GOOD. pose proof (GOOD s Is m' RK L1 L2) as PAY. unfold pays_at, en in PAY. cbn [le lw lt_ la lstep] in PAY.
  set (v := listed W 0 (fun x => pw st (m' x))) in *. assert (Pv : Forall (Rlt 0) v) by (apply listed_pos; intros; apply pw_pos). assert (Lv : length v = length W) by apply len_listed.
  rewrite (sumF_scale (pw st c) _ (fun x => pw st (m' x))).
  2: { intros x. unfold pw. rewrite <- exp_plus. f_equal. unfold m'. rewrite minus_IZR. ring. }
  assert (V0 : sumF 0 g (fun x => pw st (m' x)) <= 0); [|pose proof (pw_pos st c); nra].
  unfold g. rewrite rates_ok by auto. fold v. pose proof (weight_pos W v HW T0 Pv Lv) as DV. assert (y0 : 0 < dot W v / IZR T) by (apply Rdiv_lt_0_compat; auto).
  pose proof (gibbs w (dot W v / IZR T) w0 y0 W q v HW Pq Pv Lq Lv) as GB. unfold w at 2 in GB. replace (dot W v / IZR T / (dot W q / IZR T) * dot W q) with (dot W v) in GB by (field; repeat split; lra).
  fold T in GB. apply Rmult_le_compat_l with (r := IZR E) in GB; [|lra]. unfold information in PAY. cbn [total] in PAY. fold T in PAY. lra.
Qed.

(* ---- with the further constraints and utilities ---- *)
Require Rows.
Definition charted mo cl hs lb toks : bool := match Rows.reduce mo cl hs with Some (co, cl) => labelled co cl lb toks | None => false end.
Theorem charted_sound mo N M hs lb toks : charted mo (N, M) hs lb toks = true -> forall Q, obeys mo Q -> nets_at_most mo Q (IZR N / IZR M).
Proof.
  unfold charted. intros H Q K. destruct (Rows.reduce mo (N, M) hs) as [[co [N' M']]|] eqn:E; [|discriminate].
  destruct (Rows.reduce_ok _ _ _ _ _ _ _ _ E K) as (Q' & A & B). apply B. eapply labelled_sound; eauto.
Qed.
