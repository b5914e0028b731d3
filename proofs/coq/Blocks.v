(* Mode blocks: information on a robust cone. Of each b at which corners turn, and of each choice of corners of the blocks, it is shown that the column
   earns at most what it pays. That is enough: what a column earns is convex. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant BlockCorners.
Import ListNotations.

(* ---- the check ---- *)
Open Scope Z_scope.
Record blocks_header := Blocks_header { bunit : Z; bprices : list Z; bratio : Z * Z }.
(* Of a choice of entries l, h and at most one x in a block: the shares of those with h, and of that with x; whether some are l, whether some are h; weights and prices of each. *)
Record choice := Choice { sh : Z; sx : Z; some_l : bool; some_h : bool; wl : Z; al : Z; wh : Z; ah : Z; wx : Z; ax : Z }.
Fixpoint choices (its : list (Z * Z * Z)) : list choice := match its with [] => [Choice 0 0 false false 0 0 0 0 0 0]
  | (r, w, a) :: its => flat_map (fun p =>
      Choice (sh p) (sx p) true (some_h p) (w + wl p) (a + al p) (wh p) (ah p) (wx p) (ax p) ::
      Choice (r + sh p) (sx p) (some_l p) true (wl p) (al p) (w + wh p) (a + ah p) (wx p) (ax p) ::
      (if (sx p =? 0) && (0 <? r) then [Choice (sh p) r (some_l p) (some_h p) (wl p) (al p) (wh p) (ah p) w a] else [])) (choices its) end.
Definition triple := (Z * Z * Z)%type.
(* n / m over D, from below and from above, and at least D^2 times v log v there. *)
Definition height (n m : Z) : option triple := if n =? 0 then Some (0, 0, 0) else
  let lo := n * D / m in let hi := - (- (n * D) / m) in match log_above hi D with Some u => Some (lo, hi, if 0 <=? u then hi * u else lo * u) | None => None end.
(* Weights w with prices a at an entry: D times the weight at least and at most, and at least D^2 times what they earn. *)
Definition adds (E w a : Z) (v : triple) : triple := let '(lo, hi, p) := v in (w * lo, w * hi, E * w * p - (if 0 <=? a then a * lo else a * hi) * D).
Definition both (a b : triple) : triple := let '(x, y, z) := a in let '(x', y', z') := b in (x + x', y + y', z + z').
Definition put (E : Z) (p : choice) (l h x : option triple) (acc : option (list triple)) : option (list triple) := match l, h, x, acc with
  | Some l, Some h, Some x, Some acc => Some (both (adds E (wl p) (al p) l) (both (adds E (wh p) (ah p) h) (adds E (wx p) (ax p) x)) :: acc) | _, _, _, _ => None end.
(* Corners of a choice at the limits a / c and b / c; w is what h is above l where both limits are tight. *)
Definition corner_of (E rest den a b c : Z) (w : option triple) (p : choice) (acc : option (list triple)) : option (list triple) := let none := Some (0, 0, 0) in
  if 0 <? rest then let over := a * rest - (b - a) * sh p in
    if sx p =? 0 then let acc := if over <=? 0 then put E p none (height (b * den) (c * (rest + sh p))) none acc else acc in
      if 0 <=? over then put E p (height over (c * rest)) (height (over + (b - a) * den) (c * rest)) none acc else acc
    else if some_l p && (0 <=? over) && (over <=? (b - a) * sx p) then put E p none w (height (over * den) (c * rest * sx p)) acc else acc
  else if (sx p =? 0) || some_h p then acc else put E p none none (height (a * den) (c * sx p)) (put E p none none (height (b * den) (c * sx p)) acc).
Definition corners (E rest den a b c : Z) (ps : list choice) : option (list triple) :=
  fold_right (corner_of E rest den a b c (if 0 <? rest then height ((b - a) * den) (c * rest) else Some (0, 0, 0))) (Some []) ps.

(* home: the block with the smallest lower end; gaps: the b that are left, as fractions; limits on D w, over the sum of weights; corners of each block, once they are computed. *)
Record bstate := Bstate { home : Z; gaps : list (Z * Z); least_w : Z; most_w : option Z; known : option (list (list triple)) }.
Record benv := Benv { b_unit : Z; b_total : Z; b_ratio : Z * Z; b_den : Z; b_blocks : list (Z * list choice) }.   (* of each block its rest and its choices *)
Inductive btoken := Gap (c : Z) | Mass (c : Z) | Share (s c : Z) | Close (t : Z) (slope : option Z).

Definition less (a b : Z * Z) : bool := fst a * snd b <=? fst b * snd a.
Fixpoint first_of (before : Z * Z -> Z * Z -> bool) (l : list (Z * Z)) : option (Z * Z) := match l with [] => None
  | a :: l => match first_of before l with None => Some a | Some b => Some (if before a b then a else b) end end.
Definition ends_of_gaps (l : list (Z * Z)) : option ((Z * Z) * (Z * Z)) := match first_of less l, first_of (fun a b => less b a) l with Some a, Some b => Some (a, b) | _, _ => None end.
Fixpoint all_corners (en : benv) (i j : Z) (lo hi : Z * Z) (bs : list (Z * list choice)) : option (list (list triple)) := let '(g, h) := b_ratio en in match bs with [] => Some []
  | (rest, ps) :: bs => match (if i =? j then corners (b_unit en) rest (b_den en) (h * snd hi) (g * fst hi) (h * snd hi) ps
      else corners (b_unit en) rest (b_den en) (fst lo * h) (g * snd lo) (snd lo * h) ps), all_corners en i (j + 1) lo hi bs with
    | Some l, Some ls => Some (l :: ls) | _, _ => None end end.
Definition corners_here (en : benv) (st : bstate) : option (list (list triple)) := match known st with Some ls => Some ls
  | None => match ends_of_gaps (gaps st) with Some (lo, hi) => all_corners en (home st) 0 lo hi (b_blocks en) | None => None end end.
Definition one_gap (st : bstate) : bool := match ends_of_gaps (gaps st) with Some (lo, hi) => less hi lo | None => false end.
Fixpoint zmost (l : list Z) : Z := match l with [] => 0 | [a] => a | a :: l => Z.max a (zmost l) end.
Fixpoint zleast (l : list Z) : Z := match l with [] => 0 | [a] => a | a :: l => Z.min a (zleast l) end.
Definition low_w (t : triple) := fst (fst t).
Definition high_w (t : triple) := snd (fst t).
Definition no_corner (l : list triple) : bool := match l with [] => true | _ => false end.
Definition above_slope (E L : Z) (t : triple) : Z := snd t - E * L * (if 0 <=? L then low_w t else high_w t).
Definition blocks_leaf (en : benv) (st : bstate) (ls : list (list triple)) (t : Z) (slope : option Z) : bool := let E := b_unit en in
  let q0 := Z.max (least_w st) (zsum (map (fun l => zleast (map low_w l)) ls)) in let s := zsum (map (fun l => zmost (map high_w l)) ls) in
  let q1 := match most_w st with Some m => Z.min m s | None => s end in
  existsb no_corner ls || (q1 <? q0) || match log_below t D with None => false | Some l => let L := match slope with Some L => L | None => D + l end in let rise := L - D - l in
    E * b_total en * t * D + E * Z.max (q0 * rise) (q1 * rise) + zsum (map (fun l => zmost (map (above_slope E L) l)) ls) <=? 0 end.
Definition gap_most (c : Z) (e : Z * Z) : bool := fst e * D <=? c * snd e.
Definition blocks_step (en : benv) (tok : btoken) (st : bstate) : option (list bstate) := match tok with
  | Gap c => match filter (gap_most c) (gaps st), filter (fun e => negb (gap_most c e)) (gaps st) with
      | [], _ | _, [] => None | l, r => Some [Bstate (home st) l (least_w st) (most_w st) None; Bstate (home st) r (least_w st) (most_w st) None] end
  | Mass c => let c := c * b_total en in match corners_here en st with None => None | ls =>
      Some [Bstate (home st) (gaps st) (least_w st) (Some (match most_w st with Some m => Z.min m c | None => c end)) ls; Bstate (home st) (gaps st) (Z.max c (least_w st)) (most_w st) ls] end
  | Share s c => let c := c * b_total en in if one_gap st then match corners_here en st with None => None | Some ls => match nthz s ls with None => None | Some _ =>
      let cut f := Bstate (home st) (gaps st) (least_w st) (most_w st) (Some (updz s (filter f) ls)) in Some [cut (fun t => low_w t <=? c); cut (fun t => c <? high_w t)] end end else None
  | Close t slope => match corners_here en st with Some ls => if blocks_leaf en st ls t slope then Some [] else None | None => None end end.
Definition blocks_advance en tok (stack : list bstate) : option (list bstate) := match stack with
  | st :: stack => match blocks_step en tok st with Some l => Some (l ++ stack) | None => None end | [] => None end.
Fixpoint blocks_run en (toks : list btoken) (stack : list bstate) : bool := match toks with
  | [] => match stack with [] => true | _ => false end
  | tok :: toks => match blocks_advance en tok stack with Some stack => blocks_run en toks stack | None => false end end.
Fixpoint turns_of (g h rest : Z) (own : bool) (ps : list choice) : list (Z * Z) := match ps with [] => []
  | p :: ps => if (sx p =? 0) && (0 <? sh p) then (if own then (h * (rest + sh p), g * sh p) else (g * sh p, h * (rest + sh p))) :: turns_of g h rest own ps else turns_of g h rest own ps end.
Fixpoint all_turns (g h i j : Z) (bs : list (Z * list choice)) : list (Z * Z) := match bs with [] => [] | (rest, ps) :: bs => turns_of g h rest (i =? j) ps ++ all_turns g h i (j + 1) bs end.
Definition all_gaps (g h i : Z) (bs : list (Z * list choice)) : list (Z * Z) := (1, 1) :: (g, h) :: filter (fun e => (snd e <=? fst e) && (fst e * h <=? g * snd e)) (all_turns g h i 0 bs).
Definition blocks_start (co : with_convex) (cl : Z * Z) (hd : blocks_header) : option (benv * list bstate) :=
  let pb := plain (inner co) in let W := weights pb in let T := zsum W in let E := bunit hd in let '(g, h) := bratio hd in let A := zscale T (bprices hd) in
  match objective pb, base pb, loss co, bonus (inner co) with
  | Information [G], Robust r den low sets, None, [] =>
      if same G W && well_formed pb && (0 <? E) && (0 <? snd cl) && alike (bprices hd) W && pays cl E (zsum (bprices hd)) && robust_ok (zlen W) den low sets &&
        at_least r g h && (h <=? g) && forallb (fun b => zlen b <=? 12) sets then
        let bs := map (fun b => let r := pick 0 b low in (den - zsum r, choices (combine (combine r (pick 0 b W)) (pick 0 b A)))) sets in
        Some (Benv E T (g, h) den bs, numbers (zlen sets) (fun i => Bstate i (all_gaps g h i bs) 0 None None)) else None
  | _, _, _, _ => None end.
(* No mechanism of the problem is worth more than the claim. *)
Definition blocked co cl hd toks : bool := match blocks_start co cl hd with Some (en, roots) => blocks_run en toks roots | None => false end.
Close Scope Z_scope.
Open Scope R_scope.

(* ---- what is computed of one corner ---- *)
Definition encloses (t : triple) (v : R) := let '(lo, hi, p) := t in vd lo <= v <= vd hi /\ xlogx v <= IZR p * d * d.
Lemma height_ok n m t : (0 <= n)%Z -> (0 < m)%Z -> height n m = Some t -> encloses t (IZR n / IZR m).
Proof.
  intros N M H. unfold height in H. pose proof d_pos as dp. pose proof DR_pos as DP. pose proof M as M'. apply IZR_lt in M'. destruct (Z.eqb_spec n 0) as [->|N0].
  - apply Some_inj in H. subst t. unfold Rdiv. rewrite Rmult_0_l. unfold encloses, vd. simpl. lra.
  - cbv zeta in H. destruct (log_above (- (- (n * D) / m)) D) as [u|] eqn:L; [|discriminate]. apply Some_inj in H. subst t. apply log_ok in L. destruct L as (P1 & P2 & L). unfold is_end in L. fold DR in L.
    set (v := IZR n / IZR m). set (hi := (- (- (n * D) / m))%Z) in *. set (lo := (n * D / m)%Z).
    assert (v0 : 0 < v) by (apply Rdiv_lt_0_compat; auto; apply IZR_lt; lia). assert (E : v * IZR m = IZR n) by (unfold v; field; lra).
    assert (B1 : vd lo <= v). { apply (Rmult_le_reg_r (IZR m * DR)); [nra|]. pose proof (Z.mul_div_le (n * D) m M) as K. fold lo in K. apply IZR_le in K. rewrite !mult_IZR in K. fold DR in K. unfold vd.
      replace (IZR lo * d * (IZR m * DR)) with (IZR m * IZR lo) by (field; lra). replace (v * (IZR m * DR)) with (v * IZR m * DR) by ring. rewrite E. lra. }
    assert (B2 : v <= vd hi). { apply (Rmult_le_reg_r (IZR m * DR)); [nra|]. pose proof (Z.mul_div_le (- (n * D)) m M) as K. assert (K' : (n * D <= m * hi)%Z) by (unfold hi; lia). apply IZR_le in K'. rewrite !mult_IZR in K'. fold DR in K'. unfold vd.
      replace (IZR hi * d * (IZR m * DR)) with (IZR m * IZR hi) by (field; lra). replace (v * (IZR m * DR)) with (v * IZR m * DR) by ring. rewrite E. lra. }
    unfold encloses. split; [lra|]. unfold phi. apply IZR_lt in P1. assert (LV : ln v <= IZR u * d). { eapply Rle_trans; [|exact L]. fold (vd hi). change (IZR hi / DR) with (vd hi). destruct B2 as [B2| <-]; [left; now apply ln_increasing|lra]. }
    apply Rle_trans with (v * (IZR u * d)). { apply Rmult_le_compat_l; lra. } destruct (Z.leb_spec 0 u) as [U|U].
    + apply IZR_le in U. rewrite mult_IZR. replace (IZR hi * IZR u * d * d) with (vd hi * (IZR u * d)) by (unfold vd; ring). apply Rmult_le_compat_r; auto. apply Rmult_le_pos; lra.
    + apply IZR_lt in U. rewrite mult_IZR. replace (IZR lo * IZR u * d * d) with (vd lo * (IZR u * d)) by (unfold vd; ring). assert (0 <= - (IZR u * d)) by (assert (0 < - IZR u * d) by (apply Rmult_lt_0_compat; lra); lra).
      assert (vd lo * - (IZR u * d) <= v * - (IZR u * d)) by (apply Rmult_le_compat_r; auto). lra.
Qed.
Lemma none_ok : encloses (0, 0, 0)%Z 0. Proof. unfold encloses, vd. simpl. lra. Qed.
(* What weights w with prices a earn at v. *)
Definition reaches (t : triple) (w e : R) := let '(lo, hi, f) := t in vd lo <= w <= vd hi /\ e <= IZR f * d * d.
Lemma adds_ok E w a t v : (0 <= E)%Z -> (0 <= w)%Z -> encloses t v -> reaches (adds E w a t) (IZR w * v) (IZR E * IZR w * xlogx v - IZR a * v).
Proof.
  intros HE Hw H. destruct t as [[lo hi] p]. unfold adds, encloses, reaches in *. destruct H as [[H1 H2] H3]. apply IZR_le in HE, Hw. pose proof d_pos as dp. unfold vd in *. rewrite !mult_IZR, minus_IZR, !mult_IZR. fold DR.
  split; [split; nra|]. assert (K : IZR E * IZR w * xlogx v <= IZR E * IZR w * (IZR p * d * d)) by (apply Rmult_le_compat_l; auto; now apply Rmult_le_pos).
  assert (Q : IZR (if (0 <=? a)%Z then a * lo else a * hi) * d <= IZR a * v). { destruct (Z.leb_spec 0 a) as [A|A]; rewrite mult_IZR; [apply IZR_le in A|apply IZR_lt in A]; nra. }
  replace ((IZR E * IZR w * IZR p - IZR (if (0 <=? a)%Z then a * lo else a * hi) * DR) * d * d) with (IZR E * IZR w * (IZR p * d * d) - IZR (if (0 <=? a)%Z then a * lo else a * hi) * d * (DR * d)) by ring. rewrite DRd. lra.
Qed.
Lemma both_ok s t w e w' e' : reaches s w e -> reaches t w' e' -> reaches (both s t) (w + w') (e + e').
Proof. destruct s as [[a b] c]. destruct t as [[a' b'] c']. unfold reaches, both, vd. rewrite !plus_IZR. intros [[H1 H2] H3] [[K1 K2] K3]. split; [split|]; lra. Qed.

(* A choice stands for each pattern. *)
Definition its_r (its : list (Z * Z * Z)) := map (fun it => fst (fst it)) its.
Definition its_w (its : list (Z * Z * Z)) := map (fun it => snd (fst it)) its.
Definition its_a (its : list (Z * Z * Z)) := map (fun it => snd it) its.
Record stands (p : choice) (its : list (Z * Z * Z)) (pat : list spot) : Prop := Stands {
  st_h : IZR (sh p) = over SH pat (map IZR (its_r its)); st_x : IZR (sx p) = over SX pat (map IZR (its_r its));
  st_l : In SL pat -> some_l p = true; st_n : Forall (fun s => s <> SH) pat -> some_h p = false;
  st_wl : IZR (wl p) = over SL pat (map IZR (its_w its)); st_wh : IZR (wh p) = over SH pat (map IZR (its_w its)); st_wx : IZR (wx p) = over SX pat (map IZR (its_w its));
  st_al : IZR (al p) = over SL pat (map IZR (its_a its)); st_ah : IZR (ah p) = over SH pat (map IZR (its_a its)); st_ax : IZR (ax p) = over SX pat (map IZR (its_a its)) }.
Ltac open_choice := cbn [sh sx some_l some_h wl al wh ah wx ax]; try match goal with |- context [(?r, ?w, ?a) :: ?its] =>
  change (its_r ((r, w, a) :: its)) with (r :: its_r its); change (its_w ((r, w, a) :: its)) with (w :: its_w its); change (its_a ((r, w, a) :: its)) with (a :: its_a its) end; cbn [map over hit].
Lemma choices_all : forall its pat, lone pat (map IZR (its_r its)) -> exists p, In p (choices its) /\ stands p its pat.
Proof.
  induction its as [|[[r w] a] its IH]; intros [|s pat] L; [|destruct s; destruct L|destruct L|].
  - eexists. split; [left; reflexivity|]. constructor; simpl; auto; tauto.
  - assert (L' : lone pat (map IZR (its_r its))). { destruct s; cbn [lone its_r map fst snd] in L; auto. destruct L as (_ & C & Ln). now apply lone_plain. }
    destruct (IH pat L') as (p & I & S). destruct S. cbn [choices]. destruct s.
    + exists (Choice (sh p) (sx p) true (some_h p) (w + wl p) (a + al p) (wh p) (ah p) (wx p) (ax p)). split. { apply in_flat_map. exists p. split; auto. now left. }
      constructor; open_choice; rewrite ?plus_IZR; try lra; auto. intros F. inversion F; subst. auto.
    + exists (Choice (r + sh p) (sx p) (some_l p) true (wl p) (al p) (w + wh p) (a + ah p) (wx p) (ax p)). split. { apply in_flat_map. exists p. split; auto. right. now left. }
      constructor; open_choice; rewrite ?plus_IZR; try lra; auto.
      * intros [X|X]; [discriminate|auto].
      * intros F. inversion F; subst. congruence.
    + cbn [lone its_r map fst snd] in L. destruct L as (R0 & C & _). pose proof (plain_over (map IZR (its_r its)) pat C) as Z0. rewrite <- st_x0 in Z0. apply (eq_IZR _ 0) in Z0. apply (lt_IZR 0) in R0.
      exists (Choice (sh p) r (some_l p) (some_h p) (wl p) (al p) (wh p) (ah p) w a). split.
      { apply in_flat_map. exists p. split; auto. right. right. rewrite Z0. simpl. destruct (Z.ltb_spec 0 r); [now left|lia]. }
      constructor; open_choice; rewrite ?(plain_over _ pat C); try lra; auto.
      * intros [X|X]; [discriminate|auto].
      * intros F. inversion F; subst. auto.
Qed.
Definition earns_in (E : Z) (its : list (Z * Z * Z)) v := IZR E * zphi Entropic (its_w its) v - dot (its_a its) v.
Lemma dot_lay l h x : forall pat c, dot c (lay l h x pat) = l * over SL pat (map IZR c) + h * over SH pat (map IZR c) + x * over SX pat (map IZR c).
Proof. induction pat as [|s pat IH]; intros [|a c]; simpl; try lra. fold (lay l h x pat). rewrite IH. destruct s; simpl; lra. Qed.
Lemma zphi_lay l h x : forall pat c, zphi Entropic c (lay l h x pat) = xlogx l * over SL pat (map IZR c) + xlogx h * over SH pat (map IZR c) + xlogx x * over SX pat (map IZR c).
Proof. induction pat as [|s pat IH]; intros [|a c]; cbn [lay map zphi over]; try lra. fold (lay l h x pat). rewrite IH. destruct s; cbn [hit]; lra. Qed.
Definition in_corner E its (t : triple) v := reaches t (dot (its_w its) v) (earns_in E its v).
Lemma put_ok E p its pat l h x l' h' x' acc es : (0 <= E)%Z -> Forall (Z.le 0) (its_w its) -> stands p its pat -> put E p l h x acc = Some es ->
  (forall t, l = Some t -> encloses t l') -> (forall t, h = Some t -> encloses t h') -> (forall t, x = Some t -> encloses t x') -> exists t es', acc = Some es' /\ es = t :: es' /\ in_corner E its t (lay l' h' x' pat).
Proof.
  intros HE HW S H Hl Hh Hx. unfold put in H. destruct l as [l|]; [|discriminate]. destruct h as [h|]; [|discriminate]. destruct x as [x|]; [|discriminate]. destruct acc as [acc|]; [|discriminate]. apply Some_inj in H.
  eexists. exists acc. split; auto. split; [symmetry; exact H|]. specialize (Hl l eq_refl). specialize (Hh h eq_refl). specialize (Hx x eq_refl). destruct S.
  assert (P : forall m, 0 <= over m pat (map IZR (its_w its))). { intros m. apply over_pos. apply Forall_map. eapply Forall_impl; [|exact HW]. simpl. intros a A. now apply IZR_le. }
  assert (wl0 : (0 <= wl p)%Z) by (apply le_IZR; rewrite st_wl0; apply P). assert (wh0 : (0 <= wh p)%Z) by (apply le_IZR; rewrite st_wh0; apply P). assert (wx0 : (0 <= wx p)%Z) by (apply le_IZR; rewrite st_wx0; apply P).
  pose proof (both_ok _ _ _ _ _ _ (adds_ok E (wl p) (al p) l l' HE wl0 Hl) (both_ok _ _ _ _ _ _ (adds_ok E (wh p) (ah p) h h' HE wh0 Hh) (adds_ok E (wx p) (ax p) x x' HE wx0 Hx))) as K.
  unfold in_corner, earns_in. rewrite zphi_lay, !dot_lay, <- st_wl0, <- st_wh0, <- st_wx0, <- st_al0, <- st_ah0, <- st_ax0.
  replace (l' * IZR (wl p) + h' * IZR (wh p) + x' * IZR (wx p)) with (IZR (wl p) * l' + (IZR (wh p) * h' + IZR (wx p) * x')) by ring.
  replace (IZR E * (xlogx l' * IZR (wl p) + xlogx h' * IZR (wh p) + xlogx x' * IZR (wx p)) - (l' * IZR (al p) + h' * IZR (ah p) + x' * IZR (ax p)))
    with (IZR E * IZR (wl p) * xlogx l' - IZR (al p) * l' + (IZR E * IZR (wh p) * xlogx h' - IZR (ah p) * h' + (IZR E * IZR (wx p) * xlogx x' - IZR (ax p) * x'))) by ring. exact K.
Qed.
Definition rates (den : Z) (its : list (Z * Z * Z)) := map (fun n => IZR n / IZR den) (its_r its).
Lemma over_rates den m : forall pat l, over m pat (map (fun n => IZR n / IZR den) l) = over m pat (map IZR l) / IZR den.
Proof. induction pat as [|s pat IH]; intros [|a l]; cbn [map over]; try (unfold Rdiv; lra). rewrite IH. unfold Rdiv. ring. Qed.
Lemma lone_rates den : 0 < IZR den -> forall pat l, lone pat (map (fun n => IZR n / IZR den) l) -> lone pat (map IZR l).
Proof.
  intros H. induction pat as [|s pat IH]; intros [|a l] L; cbn [map lone] in *; auto. destruct s; auto. destruct L as (A & B & C). rewrite map_length in *. repeat split; auto.
  apply (Rmult_lt_compat_r (IZR den)) in A; auto. rewrite Rmult_0_l in A. replace (IZR a / IZR den * IZR den) with (IZR a) in A by (field; lra). exact A.
Qed.
Lemma corners_ok E rest den its a b c es : (0 <= E)%Z -> (0 <= rest)%Z -> (0 < den)%Z -> (0 < a)%Z -> (a <= b)%Z -> (0 < c)%Z -> Forall (Z.le 0) (its_w its) -> Forall (Z.le 0) (its_r its) -> corners E rest den a b c (choices its) = Some es ->
  forall kp, fits_here kp (IZR rest / IZR den) (rates den its) (IZR a / IZR c) (IZR b / IZR c) ->
  exists t, In t es /\ in_corner E its t (vector kp (IZR rest / IZR den) (rates den its) (IZR a / IZR c) (IZR b / IZR c)).
Proof.
  intros HE HR HD HA HB HC HW Hr H [k pat] F. pose proof HD as d0. apply IZR_lt in d0. pose proof HC as c0. apply IZR_lt in c0. pose proof HR as r0. apply IZR_le in r0. pose proof HA as a0. apply IZR_lt in a0. pose proof HB as ab. apply IZR_le in ab.
  assert (F' := F). destruct F' as [L _]. apply lone_rates in L; auto. cbn [snd] in L. destruct (choices_all its pat L) as (p & I & S). assert (S' := S). destruct S' as [Sh Sx Sl Sn _ _ _ _ _ _].
  unfold corners in H. set (w := if (0 <? rest)%Z then height ((b - a) * den) (c * rest) else Some (0, 0, 0)%Z) in *.
  assert (W : exists acc acc', corner_of E rest den a b c w p acc = Some acc' /\ incl acc' es).
  { clear - H I. revert es H. induction (choices its) as [|q ps IH]; intros es H; [destruct I|]. cbn [fold_right] in H. destruct I as [->|I].
    - exists (fold_right (corner_of E rest den a b c w) (Some []) ps), es. split; auto. apply incl_refl.
    - assert (K : forall acc es, corner_of E rest den a b c w q acc = Some es -> exists l, acc = Some l /\ incl l es).
      { clear. intros acc es H. unfold corner_of in H. assert (P : forall l h x acc es, put E q l h x acc = Some es -> exists l', acc = Some l' /\ incl l' es).
        { intros l h x ac e H'. unfold put in H'. destruct l, h, x, ac; try discriminate. apply Some_inj in H'. subst. eexists. split; eauto. intros u U. now right. }
        assert (Same : forall ac e, ac = Some e -> exists l' : list triple, ac = Some l' /\ incl l' e) by (intros ac e ->; exists e; split; auto; apply incl_refl).
        assert (Then : forall ac l e, ac = Some l -> incl l e -> (exists l', acc = Some l' /\ incl l' l) -> exists l', acc = Some l' /\ incl l' e) by (intros ac l e _ A (l' & B & C); exists l'; split; auto; eapply incl_tran; eauto).
        destruct (0 <? rest)%Z; [destruct (sx q =? 0)%Z|].
        - cbv zeta in H. destruct (a * rest - (b - a) * sh q <=? 0)%Z; destruct (0 <=? a * rest - (b - a) * sh q)%Z; eauto.
          apply P in H. destruct H as (l & H & J). apply P in H. destruct H as (l' & H & J'). exists l'. split; auto. eapply incl_tran; eauto.
        - cbv zeta in H. destruct (some_l q && (0 <=? a * rest - (b - a) * sh q)%Z && (a * rest - (b - a) * sh q <=? (b - a) * sx q)%Z)%bool; eauto.
        - destruct ((sx q =? 0)%Z || some_h q)%bool; eauto. apply P in H. destruct H as (l & H & J). apply P in H. destruct H as (l' & H & J'). exists l'. split; auto. eapply incl_tran; eauto. }
      destruct (K _ _ H) as (l & H' & J). destruct (IH I l H') as (acc & acc' & A & B). exists acc, acc'. split; auto. eapply incl_tran; eauto. }
  destruct W as (acc & acc' & W & J). enough (G : exists t, In t acc' /\ in_corner E its t (vector (k, pat) (IZR rest / IZR den) (rates den its) (IZR a / IZR c) (IZR b / IZR c))) by (destruct G as (t & G1 & G2); eauto).
  clear H J es I. unfold corner_of in W. cbv zeta in W. unfold vector, fits_here in *. cbn [fst snd] in *. destruct F as [_ F]. unfold rates in F |- *. rewrite !over_rates in F |- *. rewrite <- Sh, <- Sx in F |- *.
  assert (sh0 : 0 <= IZR (sh p)). { rewrite Sh. apply over_pos. apply Forall_map. eapply Forall_impl; [|exact Hr]. simpl. intros n Q. now apply IZR_le. }
  assert (no : forall t, Some (0, 0, 0)%Z = Some t -> encloses t 0) by (intros t Q; apply Some_inj in Q; subst t; apply none_ok).
  assert (HT : forall n m v, (0 <= n)%Z -> (0 < m)%Z -> v = IZR n / IZR m -> forall t, height n m = Some t -> encloses t v) by (intros n m v N M -> t Q; now apply height_ok).
  set (ov := (a * rest - (b - a) * sh p)%Z) in *.
  assert (OV : IZR ov = IZR a * IZR rest - (IZR b - IZR a) * IZR (sh p)) by (unfold ov; rewrite minus_IZR, !mult_IZR, minus_IZR; reflexivity).
  assert (Cmp : forall n, 0 <= IZR n -> (IZR n / IZR den * (IZR b / IZR c) <= IZR a / IZR c * (IZR rest / IZR den + IZR n / IZR den) -> (IZR b - IZR a) * IZR n <= IZR a * IZR rest) /\
    (IZR a / IZR c * (IZR rest / IZR den + IZR n / IZR den) <= IZR n / IZR den * (IZR b / IZR c) -> IZR a * IZR rest <= (IZR b - IZR a) * IZR n)).
  { intros n _. split; intros Q; apply Rmult_le_compat_r with (r := IZR c * IZR den) in Q; try nra;
      replace (IZR n / IZR den * (IZR b / IZR c) * (IZR c * IZR den)) with (IZR n * IZR b) in Q by (field; lra); replace (IZR a / IZR c * (IZR rest / IZR den + IZR n / IZR den) * (IZR c * IZR den)) with (IZR a * (IZR rest + IZR n)) in Q by (field; lra); lra. }
  assert (P0 : forall pat', plain_spots pat' -> pat' = pat -> sx p = 0%Z). { intros q C ->. apply eq_IZR. rewrite Sx. now rewrite plain_over. }
  destruct k; cbn [spots].
  - destruct F as (P & C & Q). specialize (P0 pat C eq_refl). apply Cmp in Q; auto. assert (O0 : (0 <= ov)%Z) by (apply le_IZR; lra). assert (rp : (0 < rest)%Z). { apply lt_IZR. apply (Rmult_lt_reg_r (/ IZR den)). now apply Rinv_0_lt_compat. rewrite Rmult_0_l. exact P. }
    destruct (Z.ltb_spec 0 rest); [|lia]. rewrite P0 in W. cbn [Z.eqb] in W. destruct (Z.leb_spec 0 ov) as [_|]; [|lia]. apply IZR_lt in rp.
    destruct (put_ok E p its pat _ _ _ (IZR a / IZR c - (IZR b / IZR c - IZR a / IZR c) / (IZR rest / IZR den) * (IZR (sh p) / IZR den))
      (IZR a / IZR c - (IZR b / IZR c - IZR a / IZR c) / (IZR rest / IZR den) * (IZR (sh p) / IZR den) + (IZR b / IZR c - IZR a / IZR c) / (IZR rest / IZR den)) 0 _ _ HE HW S W) as (t & es' & _ & -> & K); auto.
    { apply HT; [auto|apply Z.mul_pos_pos; auto|]. rewrite OV, mult_IZR. field. lra. } { apply HT; [nia|apply Z.mul_pos_pos; auto|]. rewrite plus_IZR, OV, !mult_IZR, minus_IZR. field. lra. } exists t. split; [now left|exact K].
  - destruct F as (P & C & Q). specialize (P0 pat C eq_refl). apply Cmp in Q; auto. assert (O0 : (ov <= 0)%Z) by (apply le_IZR; lra). assert (rp : (0 < rest)%Z). { apply lt_IZR. apply (Rmult_lt_reg_r (/ IZR den)). now apply Rinv_0_lt_compat. rewrite Rmult_0_l. exact P. }
    destruct (Z.ltb_spec 0 rest); [|lia]. rewrite P0 in W. cbn [Z.eqb] in W. destruct (Z.leb_spec ov 0) as [_|]; [|lia]. assert (sh1 := sh0). apply (le_IZR 0) in sh1.
    assert (Fin : forall es, put E p (Some (0, 0, 0)%Z) (height (b * den) (c * (rest + sh p))) (Some (0, 0, 0)%Z) acc = Some es -> exists t, In t es /\ in_corner E its t (lay 0 (IZR b / IZR c / (IZR rest / IZR den + IZR (sh p) / IZR den)) 0 pat)).
    { intros es Q'. destruct (put_ok E p its pat _ _ _ 0 (IZR b / IZR c / (IZR rest / IZR den + IZR (sh p) / IZR den)) 0 _ _ HE HW S Q') as (t & es' & _ & -> & K); auto.
      { apply HT; [nia|apply Z.mul_pos_pos; lia|]. rewrite !mult_IZR, plus_IZR. apply IZR_lt in rp. field. lra. } exists t. split; [now left|exact K]. }
    destruct (Z.leb_spec 0 ov) as [O1|]; [|now apply Fin]. unfold put at 1 in W. destruct (height ov (c * rest)) as [t1|]; [|discriminate]. destruct (height (ov + (b - a) * den) (c * rest)) as [t2|]; [|discriminate].
    destruct (put E p (Some (0, 0, 0)%Z) (height (b * den) (c * (rest + sh p))) (Some (0, 0, 0)%Z) acc) as [es|] eqn:Q'; [|discriminate]. apply Some_inj in W. subst acc'. destruct (Fin es eq_refl) as (t & I & K). exists t. split; auto. now right.
  - destruct F as (P & X & IL & Q & Q'). assert (rp : (0 < rest)%Z). { apply lt_IZR. apply (Rmult_lt_reg_r (/ IZR den)). now apply Rinv_0_lt_compat. rewrite Rmult_0_l. exact P. }
    assert (xp : (0 < sx p)%Z). { apply lt_IZR. apply (Rmult_lt_reg_r (/ IZR den)). now apply Rinv_0_lt_compat. rewrite Rmult_0_l. exact X. }
    apply Cmp in Q; auto. replace (IZR (sh p) / IZR den + IZR (sx p) / IZR den) with (IZR (sh p + sx p) / IZR den) in Q' by (rewrite plus_IZR; field; lra). apply Cmp in Q'. 2: { rewrite plus_IZR. apply IZR_lt in xp. lra. } rewrite plus_IZR in Q'.
    assert (O0 : (0 <= ov)%Z) by (apply le_IZR; lra). assert (O1 : (ov <= (b - a) * sx p)%Z) by (apply le_IZR; rewrite mult_IZR, minus_IZR; lra).
    destruct (Z.ltb_spec 0 rest); [|lia]. destruct (Z.eqb_spec (sx p) 0); [lia|]. rewrite (Sl IL) in W. cbn [andb] in W. destruct (Z.leb_spec 0 ov); [|lia]. destruct (Z.leb_spec ov ((b - a) * sx p)); [|lia]. cbn [andb] in W.
    destruct (put_ok E p its pat _ _ _ 0 ((IZR b / IZR c - IZR a / IZR c) / (IZR rest / IZR den)) ((IZR a / IZR c - (IZR b / IZR c - IZR a / IZR c) / (IZR rest / IZR den) * (IZR (sh p) / IZR den)) / (IZR (sx p) / IZR den)) _ _ HE HW S W) as (t & es' & _ & -> & K); auto.
    { unfold w. apply HT; [nia|apply Z.mul_pos_pos; auto|]. rewrite !mult_IZR, minus_IZR. apply IZR_lt in rp. field. lra. }
    { apply HT; [nia|apply Z.mul_pos_pos; auto; now apply Z.mul_pos_pos|]. rewrite !mult_IZR, OV. apply IZR_lt in rp, xp. field. lra. } exists t. split; [now left|exact K].
  - destruct F as (P & X & NH). assert (rz : rest = 0%Z). { apply eq_IZR. apply (Rmult_eq_reg_r (/ IZR den)); [unfold Rdiv in P; lra|]. apply Rinv_neq_0_compat. lra. }
    assert (xp : (0 < sx p)%Z). { apply lt_IZR. apply (Rmult_lt_reg_r (/ IZR den)). now apply Rinv_0_lt_compat. rewrite Rmult_0_l. exact X. }
    subst rest. cbn [Z.ltb Z.compare] in W. destruct (Z.eqb_spec (sx p) 0); [lia|]. rewrite (Sn NH) in W. cbn [orb] in W.
    destruct (put_ok E p its pat _ _ _ 0 0 (IZR a / IZR c / (IZR (sx p) / IZR den)) _ _ HE HW S W) as (t & es' & _ & -> & K); auto.
    { apply HT; [nia|apply Z.mul_pos_pos; auto|]. rewrite !mult_IZR. apply IZR_lt in xp. field. lra. } exists t. split; [now left|exact K].
  - destruct F as (P & X & NH). assert (rz : rest = 0%Z). { apply eq_IZR. apply (Rmult_eq_reg_r (/ IZR den)); [unfold Rdiv in P; lra|]. apply Rinv_neq_0_compat. lra. }
    assert (xp : (0 < sx p)%Z). { apply lt_IZR. apply (Rmult_lt_reg_r (/ IZR den)). now apply Rinv_0_lt_compat. rewrite Rmult_0_l. exact X. }
    subst rest. cbn [Z.ltb Z.compare] in W. destruct (Z.eqb_spec (sx p) 0); [lia|]. rewrite (Sn NH) in W. cbn [orb] in W.
    unfold put at 1 in W. destruct (height (a * den) (c * sx p)) as [t1|]; [|discriminate]. destruct (put E p (Some (0, 0, 0)%Z) (Some (0, 0, 0)%Z) (height (b * den) (c * sx p)) acc) as [es|] eqn:Q'; [|discriminate]. apply Some_inj in W. subst acc'.
    destruct (put_ok E p its pat _ _ _ 0 0 (IZR b / IZR c / (IZR (sx p) / IZR den)) _ _ HE HW S Q') as (t & es' & _ & -> & K); auto.
    { apply HT; [nia|apply Z.mul_pos_pos; auto|]. rewrite !mult_IZR. apply IZR_lt in xp. field. lra. } exists t. split; [right; now left|exact K].
Qed.

(* ---- corners are columns of their block ---- *)
Lemma lay_all (P : R -> Prop) l h x pat : P l -> P h -> (In SX pat -> P x) -> Forall P (lay l h x pat).
Proof. intros L H X. apply Forall_map, Forall_forall. intros [] I; auto. Qed.
Lemma plain_no pat : plain_spots pat -> ~ In SX pat.
Proof. intros H I. unfold plain_spots in H. rewrite Forall_forall in H. now apply (H _ I). Qed.
Lemma no_spot_high pat : Forall (fun s => s <> SH) pat -> forall (P : R -> Prop) l h x, P l -> P x -> Forall P (lay l h x pat).
Proof. intros H P l h x L X. apply Forall_map, Forall_forall. rewrite Forall_forall in H. intros [] I; auto. now apply H in I. Qed.
Lemma corner_in kp rho r lo hi : shares_ok rho r -> 0 < lo -> lo <= hi -> fits_here kp rho r lo hi -> in_block rho r lo hi (vector kp rho r lo hi).
Proof.
  intros (R0 & S & P & NE & Z0) Hlo Hhi F. destruct kp as [k pat]. destruct F as [L F]. cbn [fst snd] in *. pose proof (lone_len _ _ L) as Lp. unfold in_block, vector. cbn [fst snd].
  pose proof (over_all pat r Lp) as O. pose proof (over_pos SL pat r P) as OL. pose proof (over_pos SH pat r P) as OH. pose proof (over_pos SX pat r P) as OX. set (w := (hi - lo) / rho).
  destruct k; cbn [spots]; fold w.
  - destruct F as (P0 & C & Q). assert (EW : w * rho = hi - lo) by (unfold w; field; lra). assert (w0 : 0 <= w) by (apply (Rmult_le_reg_r rho); lra). rewrite len_lay, lay_sum. rewrite (plain_over r pat C) in *. set (rh := over SH pat r) in *. set (rl := over SL pat r) in *.
    assert (l0 : 0 <= lo - w * rh). { apply (Rmult_le_reg_r rho); auto. rewrite Rmult_0_l. replace ((lo - w * rh) * rho) with (lo * rho - rh * (w * rho)) by ring. rewrite EW. lra. }
    assert (E : (lo - w * rh) * rl + (lo - w * rh + w) * rh + 0 * 0 = lo - rho * (lo - w * rh)). { replace rl with (1 - rho - rh) by lra. ring. }
    rewrite E. split; auto. pose proof (plain_no _ C) as N. split; apply lay_all; try tauto; try lra.
  - destruct F as (P0 & C & Q). rewrite len_lay, lay_sum. set (rh := over SH pat r) in *. set (h := hi / (rho + rh)). assert (Eh : h * (rho + rh) = hi) by (unfold h; field; lra). assert (h0 : 0 <= h) by (apply (Rmult_le_reg_r (rho + rh)); lra).
    assert (K : lo <= h * rh). { apply (Rmult_le_reg_r (rho + rh)); [lra|]. replace (h * rh * (rho + rh)) with (rh * (h * (rho + rh))) by ring. rewrite Eh. exact Q. } assert (0 <= h * rho) by (apply Rmult_le_pos; lra).
    split; auto. pose proof (plain_no _ C) as N. rewrite (plain_over r pat C). split; apply lay_all; try tauto; try lra.
  - destruct F as (P0 & X & I & Q & Q'). rewrite len_lay, lay_sum. set (rh := over SH pat r) in *. set (rx := over SX pat r) in *. assert (EW : w * rho = hi - lo) by (unfold w; field; lra). assert (w0 : 0 <= w) by (apply (Rmult_le_reg_r rho); lra).
    set (x := (lo - w * rh) / rx). assert (Ex : x * rx = lo - w * rh) by (unfold x; field; lra).
    assert (x0 : 0 <= x). { apply (Rmult_le_reg_r rx); auto. rewrite Rmult_0_l, Ex. apply (Rmult_le_reg_r rho); auto. rewrite Rmult_0_l. replace ((lo - w * rh) * rho) with (lo * rho - rh * (w * rho)) by ring. rewrite EW. lra. }
    assert (xw : x <= w). { apply (Rmult_le_reg_r rx); auto. rewrite Ex. apply (Rmult_le_reg_r rho); auto. replace ((lo - w * rh) * rho) with (lo * rho - rh * (w * rho)) by ring. replace (w * rx * rho) with (rx * (w * rho)) by ring. rewrite EW. lra. }
    replace (0 * over SL pat r + w * rh + x * rx) with lo by lra. split; auto. split; apply lay_all; intros; try lra. split; [assert (0 <= rho * x) by (apply Rmult_le_pos; lra); lra|].
    assert (rho * x <= rho * w) by (apply Rmult_le_compat_l; lra). lra.
  - destruct F as (-> & X & N). rewrite len_lay, lay_sum, (no_high r pat N). assert (E : lo / over SX pat r * over SX pat r = lo) by (field; lra). assert (0 <= lo / over SX pat r) by (apply (Rmult_le_reg_r (over SX pat r)); lra).
    split; auto. split; apply no_spot_high; auto; lra.
  - destruct F as (-> & X & N). rewrite len_lay, lay_sum, (no_high r pat N). assert (E : hi / over SX pat r * over SX pat r = hi) by (field; lra). assert (0 <= hi / over SX pat r) by (apply (Rmult_le_reg_r (over SX pat r)); lra).
    split; auto. split; apply no_spot_high; auto; lra.
Qed.

(* ---- lists of corners ---- *)
Lemma zmost_ge : forall l a, In a l -> (a <= zmost l)%Z.
Proof. induction l as [|b l IH]; intros a I; [destruct I|]. destruct l as [|c l]. { destruct I as [->|[]]. simpl. lia. } change (zmost (b :: c :: l)) with (Z.max b (zmost (c :: l))). destruct I as [->|I]; [lia|]. specialize (IH a I). lia. Qed.
Lemma zleast_le : forall l a, In a l -> (zleast l <= a)%Z.
Proof. induction l as [|b l IH]; intros a I; [destruct I|]. destruct l as [|c l]. { destruct I as [->|[]]. simpl. lia. } change (zleast (b :: c :: l)) with (Z.min b (zleast (c :: l))). destruct I as [->|I]; [lia|]. specialize (IH a I). lia. Qed.
(* A column that the list of corners speaks for: of these corners one is at least as bad, for each slope. *)
Definition strong E its (l : list triple) v := exists t, In t l /\ in_corner E its t v.
Definition weak E its (l : list triple) v := l <> [] /\ vd (zleast (map low_w l)) <= dot (its_w its) v <= vd (zmost (map high_w l)) /\
  forall L, earns_in E its v - IZR E * vd L * dot (its_w its) v <= IZR (zmost (map (above_slope E L) l)) * d * d.
Lemma vd_le a b : (a <= b)%Z -> vd a <= vd b. Proof. apply vd_mono. Qed.
Lemma slope_ok E its t v L : (0 <= E)%Z -> in_corner E its t v -> earns_in E its v - IZR E * vd L * dot (its_w its) v <= IZR (above_slope E L t) * d * d.
Proof.
  intros HE K. destruct t as [[lo hi] f]. unfold in_corner, reaches in K. destruct K as [[K1 K2] K3]. unfold above_slope, low_w, high_w. cbn [fst snd]. apply IZR_le in HE. pose proof d_pos as dp. rewrite minus_IZR, !mult_IZR. unfold vd in *.
  assert (Q : IZR E * IZR L * IZR (if (0 <=? L)%Z then lo else hi) * d * d <= IZR E * (IZR L * d) * dot (its_w its) v).
  { replace (IZR E * IZR L * IZR (if (0 <=? L)%Z then lo else hi) * d * d) with (IZR E * (IZR L * d * (IZR (if (0 <=? L)%Z then lo else hi) * d))) by ring. replace (IZR E * (IZR L * d) * dot (its_w its) v) with (IZR E * (IZR L * d * dot (its_w its) v)) by ring. apply Rmult_le_compat_l; auto.
    destruct (Z.leb_spec 0 L) as [H|H]; [apply IZR_le in H|apply IZR_lt in H]; cbv iota.
    - apply Rmult_le_compat_l; auto. apply Rmult_le_pos; lra.
    - assert (N : 0 <= - (IZR L * d)) by (assert (0 < - IZR L * d) by (apply Rmult_lt_0_compat; lra); lra). apply Rmult_le_compat_l with (r := - (IZR L * d)) in K2; auto. lra. }
  lra.
Qed.
Lemma strong_weak E its l v : (0 <= E)%Z -> strong E its l v -> weak E its l v.
Proof.
  intros HE (t & I & K). assert (M : forall f : triple -> Z, In (f t) (map f l)) by (intros f; now apply in_map). split. { intros ->. destruct I. } split.
  - assert (K' := K). destruct t as [[lo hi] f]. destruct K' as [[K1 K2] K3]. split.
    + eapply Rle_trans; [apply vd_le, zleast_le, (M low_w)|exact K1].
    + eapply Rle_trans; [exact K2|apply vd_le, zmost_ge, (M high_w)].
  - intros L. eapply Rle_trans; [apply (slope_ok E its t v L HE K)|]. pose proof d_pos. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [lra|]. apply IZR_le, zmost_ge. exact (M (above_slope E L)).
Qed.

(* ---- a convex form of a block is above a line that it touches at a column, but for as little as one likes ---- *)
Definition pos (e : R) (v : list R) := map (fun y => if Rlt_dec 0 y then y else e) v.
Fixpoint tilt (E L : R) (W A : list Z) (p : list R) : list R := match W, A, p with w :: W, a :: A, y :: p => (E * IZR w * (1 + ln y) - IZR a - E * L * IZR w) :: tilt E L W A p | _, _, _ => [] end.
Lemma len_tilt E L : forall W A p, length A = length W -> length p = length W -> length (tilt E L W A p) = length W.
Proof. induction W; intros [|b A] [|y p] H K; simpl in *; try discriminate; auto. Qed.
Lemma tilt_below E L : 0 <= E -> forall W A p u, Forall (Z.le 0) W -> Forall (Rlt 0) p -> Forall (Rle 0) u -> length A = length W -> length p = length W -> length u = length W ->
  weighed_sum (tilt E L W A p) u - E * dot W p <= E * zphi Entropic W u - dot A u - E * L * dot W u.
Proof.
  intros HE. induction W as [|w W IH]; intros [|a A] [|y p] [|v u] HW Hp Hu L1 L2 L3; simpl in L1, L2, L3; try discriminate; cbn [tilt weighed_sum zphi dot]; try lra.
  inversion HW as [|? ? w0 HW']; inversion Hp as [|? ? y0 Hp']; inversion Hu as [|? ? v0 Hu']; subst. specialize (IH A p u HW' Hp' Hu' ltac:(lia) ltac:(lia) ltac:(lia)). apply IZR_le in w0.
  pose proof (tangent v y (ln y) v0 y0 (Rle_refl _)) as K. assert (Q : 0 <= E * IZR w) by now apply Rmult_le_pos. apply Rmult_le_compat_l with (r := E * IZR w) in K; auto. lra.
Qed.
Lemma tilt_at E L e : forall W A v, length A = length W -> length v = length W -> Forall (Rle 0) v ->
  E * zphi Entropic W v - dot A v - E * L * dot W v = weighed_sum (tilt E L W A (pos e v)) v - E * dot W v.
Proof.
  induction W as [|w W IH]; intros [|a A] [|y v] L1 L2 Hv; simpl in L1, L2; try discriminate; cbn [pos map tilt weighed_sum zphi dot]; try lra. inversion Hv as [|? ? y0 Hv']; subst. specialize (IH A v ltac:(lia) ltac:(lia) Hv'). fold (pos e v).
  destruct (Rlt_dec 0 y) as [Y|Y]; unfold phi; [lra|]. assert (y = 0) by lra. subst y. lra.
Qed.
Lemma pos_pos e v : 0 < e -> Forall (Rlt 0) (pos e v). Proof. intros H. apply Forall_map, Forall_forall. intros y _. destruct (Rlt_dec 0 y); auto. Qed.
Lemma len_pos e v : length (pos e v) = length v. Proof. apply map_length. Qed.
Lemma pos_near e : 0 < e -> forall W v, Forall (Z.le 0) W -> Forall (Rle 0) v -> dot W (pos e v) <= dot W v + e * IZR (zsum W).
Proof.
  intros He. induction W as [|w W IH]; intros [|y v] HW Hv; cbn [pos map dot zsum]; rewrite ?plus_IZR; try (rewrite ?Rmult_0_r; lra).
  - inversion HW as [|? ? w0 HW']; subst. apply IZR_le in w0. pose proof (zsum_nonneg W HW') as S. apply IZR_le in S. assert (0 <= e * (IZR w + IZR (zsum W))) by (apply Rmult_le_pos; lra). lra.
  - inversion HW as [|? ? w0 HW']; inversion Hv as [|? ? y0 Hv']; subst. specialize (IH v HW' Hv'). fold (pos e v). apply IZR_le in w0. destruct (Rlt_dec 0 y) as [Y|Y]; [assert (0 <= e * IZR w) by (apply Rmult_le_pos; lra); lra|]. assert (y = 0) by lra. subst y. lra.
Qed.
Lemma as_little a b k : 0 <= k -> (forall e, 0 < e -> a <= b + e * k) -> a <= b.
Proof. intros K H. destruct (Rle_dec a b) as [|N]; auto. exfalso. specialize (H ((a - b) / (2 * (k + 1))) ltac:(apply Rdiv_lt_0_compat; lra)). apply Rmult_le_compat_r with (r := 2 * (k + 1)) in H; [|lra].
  replace ((b + (a - b) / (2 * (k + 1)) * k) * (2 * (k + 1))) with (b * (2 * (k + 1)) + (a - b) * k) in H by (field; lra). nra. Qed.

Record block_data (den : Z) (dt : Z * list (Z * Z * Z)) : Prop := Block_data { k_rest : (0 <= fst dt)%Z; k_sum : (fst dt + zsum (its_r (snd dt)) = den)%Z; k_r : Forall (Z.le 0) (its_r (snd dt)); k_w : Forall (Z.le 0) (its_w (snd dt));
  k_some : snd dt <> []; k_pos : fst dt = 0%Z -> Forall (Z.lt 0) (its_r (snd dt)) }.
Lemma sum_rates den : 0 < den -> forall l, sum (map (fun n => IZR n / den) l) = IZR (zsum l) / den.
Proof. intros H. induction l as [|a l IH]; simpl; [unfold Rdiv; lra|]. rewrite IH, plus_IZR. field. lra. Qed.
Lemma data_shares den dt : (0 < den)%Z -> block_data den dt -> shares_ok (IZR (fst dt) / IZR den) (rates den (snd dt)).
Proof.
  intros D0 []. pose proof D0 as D1. apply IZR_lt in D1. assert (V : 0 < / IZR den) by now apply Rinv_0_lt_compat. unfold shares_ok, rates. split. { apply IZR_le in k_rest0. apply Rmult_le_pos; lra. } split.
  { rewrite sum_rates by auto. rewrite <- k_sum0, plus_IZR. field. rewrite <- plus_IZR, k_sum0. lra. } split.
  { apply Forall_map. eapply Forall_impl; [|exact k_r0]. simpl. intros n N. apply IZR_le in N. apply Rmult_le_pos; lra. } split. { destruct (snd dt); [congruence|discriminate]. }
  intros Z0. apply Forall_map. assert (fst dt = 0%Z) by (apply eq_IZR; apply (Rmult_eq_reg_r (/ IZR den)); [unfold Rdiv in Z0; lra|lra]). eapply Forall_impl; [|exact (k_pos0 H)]. simpl. intros n N. apply IZR_lt in N. now apply Rdiv_lt_0_compat.
Qed.
Lemma len_rates den its : length (rates den its) = length its. Proof. unfold rates, its_r. now rewrite !map_length. Qed.
Lemma len_its its : length (its_w its) = length its /\ length (its_a its) = length its. Proof. unfold its_w, its_a. now rewrite !map_length. Qed.
(* Corners at wider limits speak for every column between the limits. *)
Lemma wide_weak E den dt lo hi l v : (0 <= E)%Z -> (0 < den)%Z -> block_data den dt -> 0 < lo -> lo <= hi ->
  (forall kp, fits_here kp (IZR (fst dt) / IZR den) (rates den (snd dt)) lo hi -> exists t, In t l /\ in_corner E (snd dt) t (vector kp (IZR (fst dt) / IZR den) (rates den (snd dt)) lo hi)) ->
  in_block (IZR (fst dt) / IZR den) (rates den (snd dt)) lo hi v -> weak E (snd dt) l v.
Proof.
  intros HE D0 HD Hlo Hhi HL HV. pose proof (data_shares _ _ D0 HD) as SO. set (rho := IZR (fst dt) / IZR den) in *. set (r := rates den (snd dt)) in *. set (its := snd dt) in *. destruct (len_its its) as [LW LA].
  assert (Lr : length r = length its) by apply len_rates. destruct HV as (Lv & Nv & Iv). assert (BV : in_block rho r lo hi v) by (split; auto). pose proof (k_w _ _ HD) as HW. fold its in HW.
  assert (K : forall c, length c = length its -> exists t u, In t l /\ in_corner E its t u /\ length u = length its /\ Forall (Rle 0) u /\ weighed_sum c v <= weighed_sum c u).
  { intros c Lc. destruct (block_best rho r lo hi v c SO Hlo Hhi BV ltac:(lia)) as (kp & F & B). destruct (HL kp F) as (t & I & C). exists t, (vector kp rho r lo hi). destruct (corner_in kp rho r lo hi SO Hlo Hhi F) as (Lu & Nu & _). repeat split; auto. lia. }
  assert (WD : forall c u, weighed_sum (map IZR c) u = dot c u) by (induction c; intros [|y u]; simpl; auto; rewrite IHc; auto).
  assert (M : forall (f : triple -> Z) t, In t l -> In (f t) (map f l)) by (intros f t; now apply in_map). pose proof d_pos as dp. split; [|split; [split|]].
  - intros ->. destruct (K (map IZR (its_w its)) ltac:(now rewrite map_length)) as (t & _ & [] & _).
  - destruct (K (map (fun w => IZR (- w)) (its_w its)) ltac:(now rewrite map_length)) as (t & u & I & C & _ & _ & B).
    assert (Op : forall c y, weighed_sum (map (fun w => IZR (- w)) c) y = - dot c y) by (induction c; intros [|y0 y]; simpl; try lra; rewrite IHc, opp_IZR; lra). rewrite !Op in B.
    destruct t as [[a b] f]. destruct C as [[C1 C2] C3]. apply Rle_trans with (vd a); [|lra]. apply vd_le, zleast_le. exact (M low_w _ I).
  - destruct (K (map IZR (its_w its)) ltac:(now rewrite map_length)) as (t & u & I & C & _ & _ & B). rewrite !WD in B. destruct t as [[a b] f]. destruct C as [[C1 C2] C3]. apply Rle_trans with (vd b); [lra|]. apply vd_le, zmost_ge. exact (M high_w _ I).
  - intros L. unfold earns_in. set (bound := IZR (zmost (map (above_slope E L) l)) * d * d). pose proof HE as E0. apply IZR_le in E0. pose proof (zsum_nonneg _ HW) as S0. apply IZR_le in S0.
    apply (as_little _ _ (IZR E * IZR (zsum (its_w its)))); [now apply Rmult_le_pos|]. intros e He.
    rewrite (tilt_at (IZR E) (vd L) e) by (auto; lia). set (p := pos e v). assert (Lp : length p = length (its_w its)) by (unfold p; rewrite len_pos; lia).
    destruct (K (tilt (IZR E) (vd L) (its_w its) (its_a its) p)) as (t & u & I & C & Lu & Nu & B). { rewrite len_tilt; lia. }
    pose proof (tilt_below (IZR E) (vd L) E0 (its_w its) (its_a its) p u HW (pos_pos e v He) Nu ltac:(lia) Lp ltac:(lia)) as T. pose proof (slope_ok E its t u L HE C) as Q. unfold earns_in in Q.
    assert (Q' : IZR (above_slope E L t) * d * d <= bound). { unfold bound. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [lra|]. apply IZR_le, zmost_ge. exact (M (above_slope E L) _ I). }
    pose proof (pos_near e He _ v HW Nv) as N. fold p in N. apply Rmult_le_compat_l with (r := IZR E) in N; auto. lra.
Qed.

(* ---- the tree ---- *)
Section Tree.
Variables (E T g h den : Z) (bd : list (Z * list (Z * Z * Z))).
Hypotheses (HE : (0 < E)%Z) (HT : (0 < T)%Z) (Hh : (0 < h)%Z) (Hg : (h <= g)%Z) (HD : (0 < den)%Z) (HB : Forall (block_data den) bd).
Notation en := (Benv E T (g, h) den (map (fun dt => (fst dt, choices (snd dt))) bd)).
Notation G := (IZR g / IZR h).
Fixpoint sides (i j : Z) (l : list (Z * list (Z * Z * Z))) : list block := match l with [] => [] | dt :: l => ((i =? j)%Z, (IZR (fst dt) / IZR den, rates den (snd dt))) :: sides i (j + 1) l end.
Definition frac (e : Z * Z) := IZR (fst e) / IZR (snd e).
Definition corners_at i b vs := Forall2 (fun o v => exists kp, fits_at G b o kp /\ v = vector_at G b o kp) (sides i 0 bd) vs.
Fixpoint weight (l : list (Z * list (Z * Z * Z))) (vs : list (list R)) := match l, vs with dt :: l, v :: vs => dot (its_w (snd dt)) v + weight l vs | _, _ => 0 end.
Fixpoint earnings (l : list (Z * list (Z * Z * Z))) (vs : list (list R)) := match l, vs with dt :: l, v :: vs => earns_in E (snd dt) v + earnings l vs | _, _ => 0 end.
Definition pays_for vs := earnings bd vs - IZR E * (IZR T * xlogx (weight bd vs / IZR T)) <= 0.
Fixpoint spoken sg (l : list (Z * list (Z * Z * Z))) (ls : list (list triple)) (vs : list (list R)) : Prop := match l, ls, vs with [], [], [] => True
  | dt :: l, es :: ls, v :: vs => (sg = true -> strong E (snd dt) es v) /\ weak E (snd dt) es v /\ spoken sg l ls vs | _, _, _ => False end.
Definition good_gap (e : Z * Z) := (0 < snd e)%Z /\ (snd e <= fst e)%Z /\ (fst e * h <= g * snd e)%Z.
Record there (st : bstate) (b : R) (vs : list (list R)) : Prop := There {
  t_gaps : Forall good_gap (gaps st); t_b : exists e, In e (gaps st) /\ b = frac e; t_vs : corners_at (home st) b vs; t_low : vd (least_w st) <= weight bd vs;
  t_high : match most_w st with Some m => weight bd vs <= vd m | None => True end; t_known : match known st with Some ls => spoken (one_gap st) bd ls vs | None => True end }.
Definition fine_state st := forall b vs, there st b vs -> pays_for vs.

Lemma h0 : 0 < IZR h. Proof. now apply IZR_lt. Qed.
Lemma less_ok a b : (0 < snd a)%Z -> (0 < snd b)%Z -> less a b = true <-> frac a <= frac b.
Proof.
  intros A B. apply IZR_lt in A, B. unfold less, frac. rewrite Z.leb_le. split; intros H.
  - apply IZR_le in H. rewrite !mult_IZR in H. now apply div_le.
  - apply le_IZR. rewrite !mult_IZR. apply Rmult_le_compat_r with (r := IZR (snd a) * IZR (snd b)) in H; [|nra].
    replace (IZR (fst a) / IZR (snd a) * (IZR (snd a) * IZR (snd b))) with (IZR (fst a) * IZR (snd b)) in H by (field; lra). replace (IZR (fst b) / IZR (snd b) * (IZR (snd a) * IZR (snd b))) with (IZR (fst b) * IZR (snd a)) in H by (field; lra). exact H.
Qed.
Lemma first_ok (before : Z * Z -> Z * Z -> bool) (val : Z * Z -> R) (P : Z * Z -> Prop) : (forall a b, P a -> P b -> before a b = true <-> val a <= val b) -> forall l m, Forall P l -> first_of before l = Some m -> In m l /\ forall e, In e l -> val m <= val e.
Proof.
  intros HB'. induction l as [|a l IH]; cbn [first_of]; intros m F H; [discriminate|]. inversion F as [|? ? Pa F']; subst. destruct (first_of before l) as [x|] eqn:Q.
  - destruct (IH x F' eq_refl) as [I M]. assert (Px : P x) by (rewrite Forall_forall in F'; auto). apply Some_inj in H. destruct (before a x) eqn:B; subst m.
    + apply HB' in B; auto. split; [now left|]. intros e [<-|J]; [lra|]. specialize (M e J). lra.
    + assert (N : ~ val a <= val x) by (intros K; apply HB' in K; auto; congruence). split; [now right|]. intros e [<-|J]; [lra|auto].
  - destruct l as [|b l]; [|cbn [first_of] in Q; destruct (first_of before l); discriminate]. apply Some_inj in H. subst m. split; [now left|]. intros e [<-|[]]. lra.
Qed.
Lemma ends_ok l lo hi : Forall good_gap l -> ends_of_gaps l = Some (lo, hi) -> In lo l /\ In hi l /\ forall e, In e l -> frac lo <= frac e <= frac hi.
Proof.
  intros F H. unfold ends_of_gaps in H. destruct (first_of less l) as [a|] eqn:A; [|discriminate]. destruct (first_of (fun a b => less b a) l) as [b|] eqn:B; [|discriminate]. apply Some_inj in H. injection H as -> ->.
  destruct (first_ok less frac good_gap) with (l := l) (m := lo) as [I1 M1]; auto. { intros x y (X & _) (Y & _). now apply less_ok. }
  destruct (first_ok (fun a b => less b a) (fun e => - frac e) good_gap) with (l := l) (m := hi) as [I2 M2]; auto. { intros x y (X & _) (Y & _). rewrite less_ok by auto. lra. }
  repeat split; auto. specialize (M2 e H). lra.
Qed.
Lemma gap_range e : good_gap e -> 1 <= frac e <= G.
Proof.
  intros (A & B & C). pose proof h0 as P0. apply IZR_lt in A. apply IZR_le in B, C. rewrite !mult_IZR in C. unfold frac. split; [|now apply div_le].
  apply (Rmult_le_reg_r (IZR (snd e))); auto. replace (IZR (fst e) / IZR (snd e) * IZR (snd e)) with (IZR (fst e)) by (field; lra). lra.
Qed.
Lemma corners_cols b : 1 <= b <= G -> forall l i j vs, Forall (block_data den) l -> Forall2 (fun o v => exists kp, fits_at G b o kp /\ v = vector_at G b o kp) (sides i j l) vs ->
  Forall2 (fun (dt : Z * list (Z * Z * Z)) v => length v = length (snd dt) /\ Forall (Rle 0) v) l vs.
Proof.
  intros Hb. induction l as [|dt l IH]; intros i j vs HL HV; cbn [sides] in HV; inversion HV as [|o v os vs' Ho HV']; subst; constructor; inversion HL as [|? ? B0 HL']; subst; eauto.
  destruct Ho as (kp & F & ->). unfold fits_at, vector_at, low_of, high_of in *. cbn [fst snd] in *. rewrite <- (len_rates den (snd dt)).
  
  assert (LH : 0 < (if (i =? j)%Z then 1 else b) /\ (if (i =? j)%Z then 1 else b) <= (if (i =? j)%Z then G * b else G)) by (destruct (i =? j)%Z; split; nra).
  destruct (corner_in kp _ _ _ _ (data_shares _ _ HD B0) (proj1 LH) (proj2 LH) F) as (C1 & C2 & _). auto.
Qed.
Lemma weight_pos : forall l vs, Forall (block_data den) l -> Forall2 (fun (dt : Z * list (Z * Z * Z)) v => length v = length (snd dt) /\ Forall (Rle 0) v) l vs -> 0 <= weight l vs.
Proof.
  intros l vs HL F. induction F as [|dt v l vs [_ N] F IH]; cbn [weight]; [lra|]. inversion HL as [|? ? B0 HL']; subst. specialize (IH HL'). pose proof (dot_pos (its_w (snd dt)) v (k_w _ _ B0) N). lra.
Qed.
Lemma corners_spoken sg lo hi b : good_gap lo -> good_gap hi -> frac lo <= b <= frac hi -> (sg = true -> frac hi <= frac lo) -> forall l i j vs ls, Forall (block_data den) l ->
  Forall2 (fun o v => exists kp, fits_at G b o kp /\ v = vector_at G b o kp) (sides i j l) vs -> all_corners en i j lo hi (map (fun dt => (fst dt, choices (snd dt))) l) = Some ls -> spoken sg l ls vs.
Proof.
  intros (L1 & L2 & L3) (H1 & H2 & H3) Hb HS. pose proof h0 as P0. pose proof L1 as l1. pose proof H1 as k1. apply IZR_lt in l1, k1. pose proof L2 as l2. pose proof L3 as l3. pose proof H2 as k2. pose proof H3 as k3. apply IZR_le in l2, l3, k2, k3. rewrite !mult_IZR in l3, k3.
  assert (b1 : 1 <= b). { apply Rle_trans with (frac lo); [|lra]. unfold frac. apply (Rmult_le_reg_r (IZR (snd lo))); auto. replace (IZR (fst lo) / IZR (snd lo) * IZR (snd lo)) with (IZR (fst lo)) by (field; lra). lra. }
  assert (bG : b <= G). { apply Rle_trans with (frac hi); [lra|]. unfold frac. apply div_le; auto. } pose proof Hg as gh. apply IZR_le in gh.
  assert (G1 : 1 <= G). { lra. }
  induction l as [|dt l IH]; intros i j vs ls HL HV HC; cbn [map all_corners sides] in *.
  - apply Some_inj in HC. subst ls. inversion HV. exact I.
  - inversion HV as [|o v os vs' Ho HV']; subst. inversion HL as [|? ? B0 HL']; subst. cbn [b_ratio b_unit b_den fst snd] in HC.
    destruct (if (i =? j)%Z then corners E (fst dt) den (h * snd hi) (g * fst hi) (h * snd hi) (choices (snd dt)) else corners E (fst dt) den (fst lo * h) (g * snd lo) (snd lo * h) (choices (snd dt))) as [es|] eqn:C; [|discriminate].
    destruct (all_corners en i (j + 1) lo hi (map (fun dt => (fst dt, choices (snd dt))) l)) as [ls'|] eqn:C'; [|discriminate]. apply Some_inj in HC. subst ls. cbn [spoken].
    specialize (IH i (j + 1)%Z vs' ls' HL' HV' C'). pose proof (data_shares _ _ HD B0) as SO. destruct Ho as (kp & F & EV). unfold fits_at, vector_at, low_of, high_of in *. cbn [fst snd] in *.
    assert (CO : exists lo0 hi0, 0 < lo0 /\ lo0 <= hi0 /\ lo0 <= (if (i =? j)%Z then 1 else b) /\ (if (i =? j)%Z then G * b else G) <= hi0 /\ (sg = true -> lo0 = (if (i =? j)%Z then 1 else b) /\ hi0 = (if (i =? j)%Z then G * b else G)) /\
      forall kp, fits_here kp (IZR (fst dt) / IZR den) (rates den (snd dt)) lo0 hi0 -> exists t, In t es /\ in_corner E (snd dt) t (vector kp (IZR (fst dt) / IZR den) (rates den (snd dt)) lo0 hi0)).
    { destruct B0. destruct (i =? j)%Z.
      - exists (IZR (h * snd hi) / IZR (h * snd hi)), (IZR (g * fst hi) / IZR (h * snd hi)). assert (A1 : IZR (h * snd hi) / IZR (h * snd hi) = 1) by (rewrite mult_IZR; field; split; lra).
        assert (A2 : IZR (g * fst hi) / IZR (h * snd hi) = G * frac hi) by (unfold frac; rewrite !mult_IZR; field; split; lra). assert (A3 : G * b <= G * frac hi) by (apply Rmult_le_compat_l; lra).
        split; [lra|]. split. { rewrite A1, A2. nra. } split; [lra|]. split; [lra|]. split. { intros S. specialize (HS S). rewrite A1, A2. split; auto. f_equal. lra. }
        intros kp' F'. refine (corners_ok E (fst dt) den (snd dt) _ _ _ es _ k_rest0 HD _ _ _ k_w0 k_r0 C kp' F'); [lia|nia|nia|nia].
      - exists (IZR (fst lo * h) / IZR (snd lo * h)), (IZR (g * snd lo) / IZR (snd lo * h)). assert (A1 : IZR (fst lo * h) / IZR (snd lo * h) = frac lo) by (unfold frac; rewrite !mult_IZR; field; split; lra).
        assert (A2 : IZR (g * snd lo) / IZR (snd lo * h) = G) by (rewrite !mult_IZR; field; split; lra). assert (A3 : 1 <= frac lo). { unfold frac. apply (Rmult_le_reg_r (IZR (snd lo))); auto. replace (IZR (fst lo) / IZR (snd lo) * IZR (snd lo)) with (IZR (fst lo)) by (field; lra). lra. }
        split; [lra|]. split; [lra|]. split; [lra|]. split; [lra|]. split. { intros S. specialize (HS S). rewrite A1, A2. split; auto. lra. }
        intros kp' F'. refine (corners_ok E (fst dt) den (snd dt) _ _ _ es _ k_rest0 HD _ _ _ k_w0 k_r0 C kp' F'); [lia|nia|nia|nia]. }
    destruct CO as (lo0 & hi0 & O1 & O2 & O3 & O4 & O5 & O6). split; [|split; auto].
    + intros S. destruct (O5 S) as [E1 E2]. rewrite <- E1, <- E2 in *. destruct (O6 kp F) as (t & I & K). exists t. split; auto. now rewrite EV.
    + apply (wide_weak E den dt lo0 hi0); auto. lia. assert (CI : in_block (IZR (fst dt) / IZR den) (rates den (snd dt)) (if (i =? j)%Z then 1 else b) (if (i =? j)%Z then G * b else G) v).
      { rewrite EV. apply corner_in; auto. destruct (i =? j)%Z; lra. destruct (i =? j)%Z; nra. }
      destruct CI as (C1 & C2 & C3). split; auto. split; auto. eapply Forall_impl; [|exact C3]. simpl. intros a [A1 A2]. lra.
Qed.
Lemma here_ok st b vs ls : there st b vs -> corners_here en st = Some ls -> spoken (one_gap st) bd ls vs.
Proof.
  intros [] H. unfold corners_here in H. destruct (known st) as [ls'|]. { apply Some_inj in H. now subst. } destruct (ends_of_gaps (gaps st)) as [[lo hi]|] eqn:Q; [|discriminate].
  destruct (ends_ok _ _ _ t_gaps0 Q) as (I1 & I2 & M). destruct t_b0 as (e & Ie & ->). rewrite Forall_forall in t_gaps0. cbn [b_blocks] in H.
  refine (corners_spoken (one_gap st) lo hi (frac e) (t_gaps0 _ I1) (t_gaps0 _ I2) (M e Ie) _ bd _ _ vs ls HB t_vs0 H). intros S. unfold one_gap in S. rewrite Q in S. apply less_ok in S; auto; [apply (t_gaps0 _ I2)|apply (t_gaps0 _ I1)].
Qed.
Lemma spoken_sums sg : forall l ls vs, spoken sg l ls vs -> existsb no_corner ls = false /\ vd (zsum (map (fun l => zleast (map low_w l)) ls)) <= weight l vs <= vd (zsum (map (fun l => zmost (map high_w l)) ls)) /\
  forall L, earnings l vs - IZR E * vd L * weight l vs <= IZR (zsum (map (fun l => zmost (map (above_slope E L) l)) ls)) * d * d.
Proof.
  induction l as [|dt l IH]; intros [|es ls] [|v vs] H; cbn [spoken] in H; try tauto. { cbn. unfold vd. split; auto. split; [lra|]. intros. lra. }
  destruct H as (_ & (NE & [W1 W2] & K) & H). destruct (IH ls vs H) as (X & [W3 W4] & K'). cbn [existsb map zsum weight earnings]. split. { destruct es; [congruence|]. exact X. } unfold vd in *. rewrite !plus_IZR. split; [lra|].
  intros L. specialize (K L). specialize (K' L). rewrite plus_IZR. lra.
Qed.
Lemma leaf_ok st b vs ls t slope : there st b vs -> corners_here en st = Some ls -> blocks_leaf en st ls t slope = true -> pays_for vs.
Proof.
  intros HS HC H. destruct (spoken_sums _ _ _ _ (here_ok _ _ _ _ HS HC)) as (X & [W1 W2] & K). destruct HS. unfold blocks_leaf in H. cbv zeta in H. cbn [b_unit b_total] in H. rewrite X in H. cbn [orb] in H.
  set (q0 := Z.max (least_w st) _) in H. set (s := zsum (map (fun l => zmost (map high_w l)) ls)) in *. set (q1 := match most_w st with Some m => Z.min m s | None => s end) in H.
  assert (Q0 : vd q0 <= weight bd vs). { unfold q0. destruct (Z.max_spec (least_w st) (zsum (map (fun l => zleast (map low_w l)) ls))) as [[_ ->]|[_ ->]]; auto. }
  assert (Q1 : weight bd vs <= vd q1). { unfold q1. destruct (most_w st) as [m|]; auto. destruct (Z.min_spec m s) as [[_ ->]|[_ ->]]; auto. }
  pose proof d_pos as dp. pose proof DRd as DD. destruct (Z.ltb_spec q1 q0) as [C|C]. { exfalso. apply IZR_lt in C. unfold vd in Q0, Q1. nra. } cbn [orb] in H.
  destruct (log_below t D) as [l|] eqn:LG; [|discriminate]. apply log_ok in LG. destruct LG as (T0 & _ & LG). unfold is_end in LG. fold DR in LG. apply Z.leb_le in H. set (L := match slope with Some L => L | None => (D + l)%Z end) in *.
  specialize (K L). apply IZR_le in H. rewrite !plus_IZR, !mult_IZR in H. fold DR in H. set (mx := Z.max (q0 * (L - D - l)) (q1 * (L - D - l))) in *. set (sm := zsum (map (fun l => zmost (map (above_slope E L) l)) ls)) in *.
  set (w := weight bd vs) in *. pose proof HT as T1. apply IZR_lt in T1. pose proof HE as E1. apply IZR_lt in E1. pose proof T0 as t1. apply IZR_lt in t1.
  assert (MX : w * (IZR (L - D - l) * d) <= IZR mx * d * d).
  { apply Rle_trans with (Rmax (vd q0 * (IZR (L - D - l) * d)) (vd q1 * (IZR (L - D - l) * d))).
    - destruct (Rle_dec 0 (IZR (L - D - l) * d)) as [S|S]; [eapply Rle_trans; [|apply Rmax_r]; apply Rmult_le_compat_r; auto|eapply Rle_trans; [|apply Rmax_l]]. assert (vd q0 * - (IZR (L - D - l) * d) <= w * - (IZR (L - D - l) * d)) by (apply Rmult_le_compat_r; lra). lra.
    - apply Rmax_lub.
      + replace (vd q0 * (IZR (L - D - l) * d)) with (IZR (q0 * (L - D - l)) * d * d) by (rewrite mult_IZR; unfold vd; ring). apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [lra|]. apply IZR_le. unfold mx. lia.
      + replace (vd q1 * (IZR (L - D - l) * d)) with (IZR (q1 * (L - D - l)) * d * d) by (rewrite mult_IZR; unfold vd; ring). apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [lra|]. apply IZR_le. unfold mx. lia. }
  assert (W0 : 0 <= w).
  { unfold w. destruct t_b0 as (e & Ie & ->). rewrite Forall_forall in t_gaps0. exact (weight_pos bd vs HB (corners_cols _ (gap_range e (t_gaps0 e Ie)) _ _ _ _ HB t_vs0)). }
  assert (TG : - (IZR T * xlogx (w / IZR T)) <= IZR T * vd t - w * (1 + vd l)).
  { pose proof (tangent (w / IZR T) (vd t) (vd l) ltac:(apply Rmult_le_pos; [lra|]; apply Rlt_le, Rinv_0_lt_compat; auto) ltac:(unfold vd; nra) LG) as Q. apply Rmult_le_compat_l with (r := IZR T) in Q; [|lra].
    replace (IZR T * (vd t - w / IZR T * (1 + vd l))) with (IZR T * vd t - w * (1 + vd l)) in Q by (field; lra). lra. }
  unfold pays_for. fold w. apply Rmult_le_compat_l with (r := IZR E) in TG; [|lra]. apply Rmult_le_compat_l with (r := IZR E) in MX; [|lra].
  assert (RI : IZR (L - D - l) * d = vd L - 1 - vd l). { rewrite !minus_IZR. fold DR. unfold vd. replace (IZR L * d - 1 - IZR l * d) with (IZR L * d - DR * d - IZR l * d) by (rewrite DD; ring). ring. } rewrite RI in MX.
  apply Rmult_le_compat_r with (r := d * d) in H; [|nra]. replace ((IZR E * IZR T * IZR t * DR + IZR E * IZR mx + IZR sm) * (d * d)) with (IZR E * (IZR T * vd t) * (DR * d) + IZR E * (IZR mx * d * d) + IZR sm * d * d) in H by (unfold vd; ring). rewrite DD in H. lra.
Qed.
Lemma filter_updz sg (f : triple -> bool) : forall l i es ls vs, spoken true l ls vs -> nthz i ls = Some es -> (forall dt t v, In t es -> strong E (snd dt) [t] v -> nthz i l = Some dt -> nthz i vs = Some v -> f t = true) -> spoken sg l (updz i (filter f) ls) vs.
Proof.
  intros l i es ls vs. revert l i ls vs. assert (Loose : forall l ls vs, spoken true l ls vs -> spoken sg l ls vs) by (induction l; intros [|es' ls] [|v vs]; cbn [spoken]; auto; intros (A & B & C); split; [auto|split; auto]).
  induction l as [|dt l IH]; intros i [|es' ls] [|v vs] H N K; cbn [spoken] in H; try tauto; try (destruct H; fail). destruct H as (S & W & H). cbn [updz]. cbn [nthz] in N. destruct (Z.eqb_spec i 0) as [->|Ni].
  - apply Some_inj in N. subst es'. destruct (S eq_refl) as (t & It & Ct). assert (F : f t = true) by (apply (K dt t v It); [exists t; split; [now left|exact Ct]|reflexivity|reflexivity]).
    assert (S' : strong E (snd dt) (filter f es) v) by (exists t; split; auto; apply filter_In; auto). cbn [spoken]. split; [auto|]. split; [apply strong_weak; auto; lia|auto].
  - cbn [spoken]. split; [auto|]. split; [exact W|]. apply (IH (i - 1)%Z); auto. intros dt' t v' It St N1 N2. apply (K dt' t v' It St); cbn [nthz]; destruct (Z.eqb_spec i 0); auto; lia.
Qed.
Lemma step_ok tok st l : blocks_step en tok st = Some l -> Forall fine_state l -> fine_state st.
Proof.
  intros H F b vs HS. assert (Two : forall x y, Some [x; y] = Some l -> fine_state x /\ fine_state y). { intros x y Q. apply Some_inj in Q. subst l. inversion F as [|? ? F1 F']; inversion F'; auto. } pose proof d_pos as dp.
  destruct tok as [c|c|s c|t slope]; cbn [blocks_step] in H.
  - destruct (filter (gap_most c) (gaps st)) as [|e1 l1] eqn:F1; [discriminate|]. destruct (filter (fun e => negb (gap_most c e)) (gaps st)) as [|e2 l2] eqn:F2; [discriminate|]. destruct (Two _ _ H) as [G1 G2].
    destruct HS. destruct t_b0 as (e & Ie & Eb). assert (Sub : forall p : Z * Z -> bool, Forall good_gap (filter p (gaps st))) by (intros p; apply Forall_forall; intros x X; apply filter_In in X; rewrite Forall_forall in t_gaps0; now apply t_gaps0).
    destruct (gap_most c e) eqn:B.
    + apply (G1 b vs). constructor; cbn [gaps home least_w most_w known]; auto. rewrite <- F1; auto. exists e. split; auto. rewrite <- F1. apply filter_In. auto.
    + apply (G2 b vs). constructor; cbn [gaps home least_w most_w known]; auto. rewrite <- F2; auto. exists e. split; auto. rewrite <- F2. apply filter_In. rewrite B. auto.
  - cbn [b_total] in H. destruct (corners_here en st) as [ls|] eqn:C; [|discriminate]. pose proof (here_ok _ _ _ _ HS C) as SP. destruct (Two _ _ H) as [G1 G2]. destruct HS. destruct (Rle_dec (weight bd vs) (vd (c * T))) as [Q|Q].
    + apply (G1 b vs). constructor; cbn [gaps home least_w most_w known]; auto. destruct (most_w st) as [m|]; auto. destruct (Z.min_spec m (c * T)) as [[_ ->]|[_ ->]]; auto.
    + apply (G2 b vs). constructor; cbn [gaps home least_w most_w known]; auto. destruct (Z.max_spec (c * T) (least_w st)) as [[_ ->]|[_ ->]]; auto. lra.
  - cbn [b_total] in H. destruct (one_gap st) eqn:O; [|discriminate]. destruct (corners_here en st) as [ls|] eqn:C; [|discriminate]. pose proof (here_ok _ _ _ _ HS C) as SP. rewrite O in SP. destruct (nthz s ls) as [es|] eqn:N; [|discriminate]. destruct (Two _ _ H) as [G1 G2]. destruct HS.
    assert (N2 : exists dt v, nthz s bd = Some dt /\ nthz s vs = Some v).
    { clear - SP N. revert s ls vs SP N. induction bd as [|dt l IH]; intros s [|es' ls] [|v vs] SP N; cbn [spoken] in SP; try tauto; cbn [nthz] in *; [discriminate|]. destruct (s =? 0)%Z; eauto. eapply IH; eauto. apply SP. }
    destruct N2 as (dt & v & N2 & N3).
    destruct (Rle_dec (dot (its_w (snd dt)) v) (vd (c * T))) as [Q|Q].
    + apply (G1 b vs). constructor; cbn [gaps home least_w most_w known]; auto. apply (filter_updz _ _ _ _ _ _ _ SP N). intros dt' t v' It (t' & [<-|[]] & K) E1 E2. rewrite N2 in E1. rewrite N3 in E2. apply Some_inj in E1, E2. subst dt' v'.
      destruct t as [[lo hi] f]. destruct K as [[K1 K2] K3]. unfold low_w. cbn [fst]. apply Z.leb_le. apply le_IZR. apply (Rmult_le_reg_r d); auto. fold (vd lo). fold (vd (c * T)). lra.
    + apply (G2 b vs). constructor; cbn [gaps home least_w most_w known]; auto. apply (filter_updz _ _ _ _ _ _ _ SP N). intros dt' t v' It (t' & [<-|[]] & K) E1 E2. rewrite N2 in E1. rewrite N3 in E2. apply Some_inj in E1, E2. subst dt' v'.
      destruct t as [[lo hi] f]. destruct K as [[K1 K2] K3]. unfold high_w. cbn [fst snd]. apply Z.ltb_lt. apply lt_IZR. apply (Rmult_lt_reg_r d); auto. fold (vd hi). fold (vd (c * T)). lra.
  - destruct (corners_here en st) as [ls|] eqn:C; [|discriminate]. destruct (blocks_leaf en st ls t slope) eqn:Q; [|discriminate]. eapply leaf_ok; eauto.
Qed.
Lemma run_ok : forall toks stack, blocks_run en toks stack = true -> Forall fine_state stack.
Proof.
  induction toks as [|tok toks IH]; intros [|st stack] H; cbn [blocks_run blocks_advance] in H; try discriminate; auto. destruct (blocks_step en tok st) as [l|] eqn:Q; [|discriminate]. apply IH in H. apply Forall_app in H. destruct H. constructor; auto. eapply step_ok; eauto.
Qed.
End Tree.

(* ---- a column of the cone is between the limits of its blocks, for some block with the smallest lower end ---- *)
Definition held (o : R * list R) y a := fst o * a + weighed_sum (snd o) y.
Lemma weighed_scale c r : forall y, weighed_sum r (scale c y) = c * weighed_sum r y.
Proof. unfold scale. induction r; intros [|y v]; simpl; try lra. rewrite IHr. ring. Qed.
Lemma range_of o y : y <> [] -> exists m M, (exists a, In a y /\ m = held o y a) /\ (exists a, In a y /\ M = held o y a) /\ forall a, In a y -> m <= held o y a <= M.
Proof.
  intros NE. assert (K : forall l, l <> [] -> exists m M, (exists a, In a l /\ m = held o y a) /\ (exists a, In a l /\ M = held o y a) /\ forall a, In a l -> m <= held o y a <= M); [|now apply K].
  induction l as [|a l IH]; [congruence|]. intros _. destruct l as [|a' l]. { exists (held o y a), (held o y a). split; [|split]. exists a. split; [now left|auto]. exists a. split; [now left|auto]. intros u [<-|[]]. lra. }
  destruct (IH ltac:(discriminate)) as (m & M & (u & Iu & Eu) & (v & Iv & Ev) & B). exists (Rmin (held o y a) m), (Rmax (held o y a) M). split; [|split].
  - destruct (Rle_dec (held o y a) m) as [H|H]; [rewrite Rmin_left by auto; exists a; split; [now left|auto]|rewrite Rmin_right by lra; exists u; split; [now right|auto]].
  - destruct (Rle_dec M (held o y a)) as [H|H]; [rewrite Rmax_left by auto; exists a; split; [now left|auto]|rewrite Rmax_right by lra; exists v; split; [now right|auto]].
  - intros w [<-|W]; [split; [apply Rmin_l|apply Rmax_l]|]. destruct (B w W) as [B1 B2]. split; [eapply Rle_trans; [apply Rmin_r|exact B1]|eapply Rle_trans; [exact B2|apply Rmax_r]].
Qed.
Lemma ranges_of : forall os ys, length os = length ys -> Forall (fun y : list R => y <> []) ys -> exists rs : list (R * R), length rs = length os /\
  forall n o y r, nth_error os n = Some o -> nth_error ys n = Some y -> nth_error rs n = Some r -> (exists a, In a y /\ fst r = held o y a) /\ (exists a, In a y /\ snd r = held o y a) /\ forall a, In a y -> fst r <= held o y a <= snd r.
Proof.
  induction os as [|o os IH]; intros [|y ys] L H; simpl in L; try discriminate. { exists []. split; auto. intros [|n] ? ? ? E; discriminate. }
  inversion H as [|? ? H1 H2]; subst. destruct (IH ys ltac:(lia) H2) as (rs & Lr & K). destruct (range_of o y H1) as (m & M & A & B & C). exists ((m, M) :: rs). split; [simpl; lia|].
  intros [|n] o' y' r E1 E2 E3; cbn [nth_error] in *; [|eapply K; eauto]. apply Some_inj in E1, E2, E3. subst. cbn [fst snd]. auto.
Qed.
Lemma least_but (ms : list R) i : (2 <= length ms)%nat -> (i < length ms)%nat -> exists t, (t < length ms)%nat /\ t <> i /\ forall u, (u < length ms)%nat -> u <> i -> nth t ms 0 <= nth u ms 0.
Proof.
  intros L I. set (j := if Nat.eqb i 0 then 1%nat else 0%nat). assert (J : (j < length ms)%nat /\ j <> i) by (unfold j; destruct (Nat.eqb_spec i 0); lia).
  set (f := fun u => if Nat.eqb u i then nth j ms 0 else nth u ms 0). set (l := map f (seq 0 (length ms))). assert (Ll : length l = length ms) by (unfold l; rewrite map_length, seq_length; auto).
  assert (N : forall u, (u < length ms)%nat -> nth u l 0 = f u). { intros u U. unfold l. rewrite (nth_indep _ 0 (f 0%nat)) by (rewrite map_length, seq_length; auto). rewrite map_nth, seq_nth by auto. reflexivity. }
  destruct (least l) as (t & Lt & M). { intros E. rewrite E in Ll. simpl in Ll. lia. } rewrite Ll in Lt. exists (if Nat.eqb t i then j else t).
  assert (V : nth (if Nat.eqb t i then j else t) ms 0 = nth t l 0). { rewrite N by auto. unfold f. destruct (Nat.eqb_spec t i); auto. }
  split. { destruct (Nat.eqb_spec t i); [apply J|auto]. } split. { destruct (Nat.eqb_spec t i); [apply J|auto]. } intros u U Nu. rewrite V. specialize (M u ltac:(lia)). rewrite (N u U) in M. unfold f in M. destruct (Nat.eqb_spec u i); [congruence|exact M].
Qed.
Theorem some_home G (os : list (R * list R)) ys : 1 <= G -> (2 <= length os)%nat -> length os = length ys -> Forall (fun y => y <> []) ys -> Forall2 (fun o y => length y = length (snd o) /\ Forall (Rle 0) y) os ys ->
  (forall s t o y o' y' a c, nth_error os s = Some o -> nth_error ys s = Some y -> nth_error os t = Some o' -> nth_error ys t = Some y' -> s <> t -> In a y -> In c y' -> held o y a <= G * held o' y' c) ->
  (exists s o y a, nth_error os s = Some o /\ nth_error ys s = Some y /\ In a y /\ 0 < held o y a) ->
  exists i k b, (i < length os)%nat /\ 0 < k /\ 1 <= b <= G /\ forall s o y, nth_error os s = Some o -> nth_error ys s = Some y ->
    in_block (fst o) (snd o) (if Nat.eqb i s then 1 else b) (if Nat.eqb i s then G * b else G) (scale k y).
Proof.
  intros HG H2 L NE HY HC (s0 & o0 & y0 & a0 & S1 & S2 & S3 & S4). destruct (ranges_of os ys L NE) as (rs & Lr & HR). set (ms := map fst rs). assert (Lm : length ms = length os) by (unfold ms; rewrite map_length; auto).
  assert (Get : forall s, (s < length os)%nat -> exists o y r, nth_error os s = Some o /\ nth_error ys s = Some y /\ nth_error rs s = Some r /\ nth s ms 0 = fst r).
  { intros s S. assert (A : exists o, nth_error os s = Some o) by (destruct (nth_error os s) eqn:Q; eauto; apply nth_error_None in Q; lia). assert (B : exists y, nth_error ys s = Some y) by (destruct (nth_error ys s) eqn:Q; eauto; apply nth_error_None in Q; lia).
    assert (C : exists r, nth_error rs s = Some r) by (destruct (nth_error rs s) eqn:Q; eauto; apply nth_error_None in Q; lia). destruct A as (o & A). destruct B as (y & B). destruct C as (r & C). exists o, y, r. repeat split; auto.
    unfold ms. apply nth_error_nth. apply map_nth_error. exact C. }
  assert (Below : forall s t o y r r' a, nth_error os s = Some o -> nth_error ys s = Some y -> nth_error rs s = Some r -> nth_error rs t = Some r' -> s <> t -> In a y -> held o y a <= G * fst r').
  { intros s t o y r r' a A B C C' N I. assert (T : (t < length os)%nat) by (rewrite <- Lr; apply nth_error_Some; congruence). destruct (Get t T) as (o' & y' & r'' & A' & B' & C'' & _). rewrite C' in C''. apply Some_inj in C''. subst r''.
    destruct (HR _ _ _ _ A' B' C') as ((c & Ic & ->) & _). eapply HC; eauto. }
  assert (s0l : (s0 < length os)%nat) by (apply nth_error_Some; congruence). destruct (Get s0 s0l) as (? & ? & r0 & Q1 & Q2 & R0 & M0). rewrite S1 in Q1. rewrite S2 in Q2. apply Some_inj in Q1, Q2. subst.
  assert (Pos1 : forall t, (t < length os)%nat -> t <> s0 -> 0 < nth t ms 0). { intros t T N. destruct (Get t T) as (o & y & r & A & B & C & ->). pose proof (Below s0 t _ _ _ _ a0 S1 S2 R0 C ltac:(congruence) S3). nra. }
  assert (Pos : forall t, (t < length os)%nat -> 0 < nth t ms 0).
  { intros t T. destruct (Nat.eq_dec t s0) as [->|N]; [|now apply Pos1]. set (u := if Nat.eqb s0 0 then 1%nat else 0%nat). assert (U : (u < length os)%nat /\ u <> s0) by (unfold u; destruct (Nat.eqb_spec s0 0); lia).
    destruct (Get u (proj1 U)) as (o & y & r & A & B & C & E). pose proof (Pos1 u (proj1 U) (proj2 U)) as P. rewrite E in P. destruct (HR _ _ _ _ A B C) as ((a & Ia & Ea) & _). pose proof (Below u s0 _ _ _ _ a A B C R0 (proj2 U) Ia) as K. rewrite M0, <- Ea in *. nra. }
  destruct (least ms) as (i & Li & Mi). { intros E. rewrite E in Lm. simpl in Lm. lia. } rewrite Lm in Li, Mi. destruct (least_but ms i ltac:(lia) ltac:(lia)) as (t & Lt & Nt & Mt). rewrite Lm in Lt, Mt.
  pose proof (Pos i Li) as Pi. set (m := nth i ms 0) in *. set (b := nth t ms 0 / m). assert (Eb : b * m = nth t ms 0) by (unfold b; field; lra).
  exists i, (/ m), b. split; auto. split; [now apply Rinv_0_lt_compat|]. destruct (Get i Li) as (oi & yi & ri & A & B & C & E). destruct (Get t Lt) as (ot & yt & rt & A' & B' & C' & E').
  assert (bG : 1 <= b <= G). { split; apply (Rmult_le_reg_r m); auto; rewrite Eb. rewrite Rmult_1_l. now apply Mi. rewrite E'. destruct (HR _ _ _ _ A' B' C') as ((a & Ia & ->) & _). pose proof (Below t i _ _ _ _ a A' B' C' C Nt Ia) as K. unfold m. rewrite E. exact K. }
  split; auto. intros s o y X Y. assert (S : (s < length os)%nat) by (apply nth_error_Some; congruence). destruct (Get s S) as (o' & y' & r & X' & Y' & Z & Es). rewrite X in X'. rewrite Y in Y'. apply Some_inj in X', Y'. subst o' y'.
  assert (OY : length y = length (snd o) /\ Forall (Rle 0) y). { clear - HY X Y. revert s X Y. induction HY as [|o' y' os ys P HY IH]; intros [|s] X Y; cbn [nth_error] in *; try discriminate; eauto. apply Some_inj in X, Y. now subst. }
  destruct OY as [Ly Ny]. split; [unfold scale; now rewrite map_length|]. split; [apply scale_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto|]. apply Forall_map, Forall_forall. intros a Ia. rewrite weighed_scale.
  replace (fst o * (/ m * a) + / m * weighed_sum (snd o) y) with (held o y a / m) by (unfold held; field; lra). destruct (HR _ _ _ _ X Y Z) as (_ & _ & K). destruct (K a Ia) as [K1 K2].
  assert (Eh : held o y a / m * m = held o y a) by (field; lra). destruct (Nat.eqb_spec i s) as [<-|N].
  - split; apply (Rmult_le_reg_r m); auto; rewrite Eh. rewrite Rmult_1_l. unfold m. now rewrite Es. rewrite Rmult_assoc, Eb, E'. eapply Below; eauto.
  - split; apply (Rmult_le_reg_r m); auto; rewrite Eh. rewrite Eb. eapply Rle_trans; [apply (Mt s S); congruence|]. now rewrite Es. unfold m. rewrite E. eapply Below; eauto.
Qed.

(* ---- a sum over the inputs is one over the blocks ---- *)
Fixpoint msum (f : Z -> R -> R) (W : list Z) (q : list R) : R := match W, q with w :: W, y :: q => f w y + msum f W q | _, _ => 0 end.
Fixpoint mlist (f : Z -> R -> R) (W : list Z) (q : list R) : list R := match W, q with w :: W, y :: q => f w y :: mlist f W q | _, _ => [] end.
Lemma msum_dot W q : dot W q = msum (fun w y => IZR w * y) W q. Proof. revert q. induction W; intros [|y q]; simpl; auto. now rewrite IHW. Qed.
Lemma msum_zphi W q : zphi Entropic W q = msum (fun w y => IZR w * xlogx y) W q. Proof. revert q. induction W; intros [|y q]; cbn [zphi msum]; auto. now rewrite IHW. Qed.
Lemma msum_zsum : forall W q, length q = length W -> IZR (zsum W) = msum (fun w _ => IZR w) W q. Proof. induction W; intros [|y q] L; simpl in *; try discriminate; auto. rewrite plus_IZR, <- IHW by lia. auto. Qed.
Lemma mlist_entry f : forall W q n, length q = length W -> (n < length W)%nat -> nth n (mlist f W q) 0 = f (nth n W 0%Z) (nth n q 0).
Proof. induction W; intros [|y q] [|n] L N; simpl in *; try discriminate; try lia; auto. apply IHW; lia. Qed.
Lemma mlist_len f : forall W q, length q = length W -> length (mlist f W q) = length W. Proof. induction W; intros [|y q] L; simpl in *; try discriminate; auto. Qed.
Lemma mlist_sum f : forall W q, sum (mlist f W q) = msum f W q. Proof. induction W; intros [|y q]; simpl; auto. now rewrite IHW. Qed.
Lemma len_marks l : forall q, length (marks l q) = length q. Proof. unfold marks. induction l; intros q; simpl; auto. unfold unit_at. now rewrite len_updz. Qed.
Lemma marks_dot k v : Z.of_nat (length v) = k -> forall l q, length q = length v -> forallb (fun x => (0 <=? x)%Z && (x <? k)%Z)%bool l = true -> dot (marks l q) v = dot q v + total (fun x => entry x v) l.
Proof.
  intros Lv. induction l as [|x l IH]; intros q Lq H; [cbn; lra|]. cbn [forallb] in H. apply andb_prop in H. destruct H as [H1 H2]. apply andb_prop in H1. destruct H1 as [H1 _]. apply Z.leb_le in H1.
  change (marks (x :: l) q) with (unit_at 1 x (marks l q)). rewrite dot_unit by (rewrite ?len_marks; auto). rewrite IH by auto. cbn [total]. lra.
Qed.
Lemma ones_dot : forall l v, forallb (Z.eqb 1) l = true -> length l = length v -> dot l v = sum v.
Proof. induction l as [|a l IH]; intros [|y v] H L; cbn [forallb dot sum length] in *; try discriminate; auto. apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1. subst a. rewrite IH by (auto; lia). lra. Qed.
Lemma msum_pick f W q : forall b, Forall (fun x => (0 <= x < zlen W)%Z) b -> length q = length W -> total (fun x => entry x (mlist f W q)) b = msum f (pick 0%Z b W) (pick 0 b q).
Proof.
  intros b H L. induction H as [|x b X H IH]; [reflexivity|]. cbn [total pick map msum]. fold (pick 0%Z b W) (pick 0 b q). rewrite IH. f_equal. unfold entry. rewrite zlen_len in X. apply mlist_entry; auto. lia.
Qed.
Lemma parted f W q (low : list Z) sets : length q = length W -> length low = length W -> forallb (fun x => (0 <=? x)%Z && (x <? zlen W)%Z)%bool (concat sets) = true -> forallb (Z.eqb 1) (marks (concat sets) (zeros low)) = true ->
  msum f W q = total (fun b => msum f (pick 0%Z b W) (pick 0 b q)) sets.
Proof.
  intros L Ll HR HM. pose proof (mlist_len f W q L) as Lm.
  assert (A : dot (marks (concat sets) (zeros low)) (mlist f W q) = total (fun x => entry x (mlist f W q)) (concat sets)).
  { rewrite (marks_dot (zlen W)) by (auto; rewrite ?zlen_len, ?len_zeros, ?Lm; auto; lia). rewrite dot_zeros. lra. }
  rewrite ones_dot in A by (auto; rewrite len_marks, len_zeros, Lm; lia). rewrite <- mlist_sum, A. clear A HM.
  induction sets as [|b sets IH]; [reflexivity|]. cbn [concat] in HR |- *. rewrite forallb_app in HR. apply andb_prop in HR. destruct HR as [R1 R2]. rewrite total_app, IH by auto. cbn [total]. f_equal. apply msum_pick; auto.
  rewrite forallb_forall in R1. apply Forall_forall. intros x X. specialize (R1 x X). apply andb_prop in R1. destruct R1 as [A B]. apply Z.leb_le in A. apply Z.ltb_lt in B. lia.
Qed.

Section Top.
Variables (E T g h den : Z) (bd : list (Z * list (Z * Z * Z))).
Hypotheses (HE : (0 < E)%Z) (HT : (0 < T)%Z) (Hh : (0 < h)%Z) (Hg : (h <= g)%Z) (HD : (0 < den)%Z) (HB : Forall (block_data den) bd) (H2 : (2 <= length bd)%nat).
Hypothesis ST : IZR (zsum (map (fun dt => zsum (its_w (snd dt))) bd)) = IZR T.
Notation G := (IZR g / IZR h).
Notation fits_cols := (Forall2 (fun (dt : Z * list (Z * Z * Z)) v => length v = length (snd dt) /\ Forall (Rle 0) v)).
Definition tilts L e (l : list (Z * list (Z * Z * Z))) (ys : list (list R)) := map (fun p : (Z * list (Z * Z * Z)) * list R => tilt (IZR E) L (its_w (snd (fst p))) (its_a (snd (fst p))) (pos e (snd p))) (combine l ys).
Fixpoint weight_at (l : list (Z * list (Z * Z * Z))) (ps : list (list R)) := match l, ps with dt :: l, p :: ps => dot (its_w (snd dt)) p + weight_at l ps | _, _ => 0 end.
Lemma tilt_shift L c : 0 < c -> forall W A p, Forall (Rlt 0) p -> tilt (IZR E) (L + ln c) W A (map (Rmult c) p) = tilt (IZR E) L W A p.
Proof. intros Hc. induction W as [|w W IH]; intros [|a A] [|y p] Hp; cbn [tilt map]; auto. inversion Hp; subst. rewrite IH by auto. f_equal. rewrite ln_mult by auto. ring. Qed.
Lemma dot_map c : forall W p, dot W (map (Rmult c) p) = c * dot W p. Proof. induction W; intros [|y p]; simpl; try lra. rewrite IHW. ring. Qed.
(* At corners the form that touches at ys is at most what they earn, less what the mean of the output takes. *)
Lemma forms_below e ys b : 0 < e -> 0 < b -> forall l vs zs, Forall (block_data den) l -> fits_cols l ys -> fits_cols l vs -> zs = ys -> forall a, 0 < a ->
  forms (tilts (1 + ln a) e l ys) vs - IZR E * (b / a) * weight_at l (map (pos e) ys) <= earnings E l vs - IZR E * (1 + ln b) * weight l vs.
Proof.
  intros He Hb l vs zs HL FY FV _ a Ha. pose proof HE as E1. apply IZR_lt in E1. revert vs FV. induction FY as [|dt y l ys [Ly Ny] FY IH]; intros vs FV; inversion FV as [|? v ? vs' [Lv Nv] FV']; subst. { cbn. lra. }
  inversion HL as [|? ? B0 HL']; subst. specialize (IH HL' vs' FV'). unfold tilts in *. cbn [combine map forms weight_at earnings weight fst snd]. destruct (len_its (snd dt)) as [LW LA].
  assert (c0 : 0 < b / a) by now apply Rdiv_lt_0_compat. set (p := pos e y) in *. assert (P0 : Forall (Rlt 0) p) by now apply pos_pos. assert (Lp : length p = length y) by apply len_pos.
  assert (LL : 1 + ln b = 1 + ln a + ln (b / a)). { unfold Rdiv. rewrite ln_mult, ln_Rinv by (auto using Rinv_0_lt_compat). ring. }
  pose proof (tilt_below (IZR E) (1 + ln b) ltac:(lra) (its_w (snd dt)) (its_a (snd dt)) (map (Rmult (b / a)) p) v (k_w _ _ B0)) as K. rewrite LL in K at 1. rewrite tilt_shift, dot_map in K by auto. unfold earns_in.
  assert (K' : Forall (Rlt 0) (map (Rmult (b / a)) p)). { apply Forall_map. eapply Forall_impl; [|exact P0]. simpl. intros u U. now apply Rmult_lt_0_compat. }
  specialize (K K' Nv ltac:(lia) ltac:(rewrite map_length; lia) ltac:(lia)). lra.
Qed.
Lemma forms_at L e : forall l ys, fits_cols l ys -> earnings E l ys - IZR E * L * weight l ys = forms (tilts L e l ys) ys - IZR E * weight l ys.
Proof.
  intros l ys F. induction F as [|dt y l ys [Ly Ny] F IH]; unfold tilts in *; cbn [combine map forms earnings weight fst snd]; [lra|]. destruct (len_its (snd dt)) as [LW LA].
  pose proof (tilt_at (IZR E) L e (its_w (snd dt)) (its_a (snd dt)) y ltac:(lia) ltac:(lia) Ny) as K. unfold earns_in. lra.
Qed.
Lemma weight_near e : 0 < e -> forall l ys, Forall (block_data den) l -> fits_cols l ys -> weight_at l (map (pos e) ys) <= weight l ys + e * IZR (zsum (map (fun dt => zsum (its_w (snd dt))) l)).
Proof.
  intros He l ys HL F. induction F as [|dt y l ys [Ly Ny] F IH]; cbn [map weight_at weight zsum]; [lra|]. inversion HL as [|? ? B0 HL']; subst. specialize (IH HL'). pose proof (pos_near e He _ y (k_w _ _ B0) Ny). rewrite plus_IZR. lra.
Qed.
Lemma weight_full e : 0 < e -> forall l ys, Forall (block_data den) l -> fits_cols l ys -> (0 < zsum (map (fun dt => zsum (its_w (snd dt))) l))%Z -> 0 < weight_at l (map (pos e) ys).
Proof.
  intros He l ys HL F S. enough (K : 0 <= weight_at l (map (pos e) ys) /\ ((0 < zsum (map (fun dt => zsum (its_w (snd dt))) l))%Z -> 0 < weight_at l (map (pos e) ys))) by (destruct K; auto). clear S.
  assert (Z1 : forall W p, Forall (Z.le 0) W -> Forall (Rlt 0) p -> length p = length W -> 0 <= dot W p /\ ((0 < zsum W)%Z -> 0 < dot W p)).
  { induction W as [|w W IH]; intros [|y p] HW Hp L; simpl in L; try discriminate; cbn [dot zsum]; [split; [lra|lia]|]. inversion HW as [|? ? w0 HW']; inversion Hp as [|? ? y0 Hp']; subst. destruct (IH p HW' Hp' ltac:(lia)) as [A B]. pose proof w0 as w1. apply IZR_le in w1.
    split; [nra|]. intros S. destruct (Z.eq_dec w 0) as [->|N]; [rewrite Rmult_0_l; assert (0 < dot W p) by (apply B; lia); lra|]. assert (0 < IZR w) by (apply IZR_lt; lia). nra. }
  induction F as [|dt y l ys [Ly Ny] F IH]; cbn [map weight_at zsum]; [split; [lra|lia]|]. inversion HL as [|? ? B0 HL']; subst. destruct (IH HL') as [A B]. destruct (len_its (snd dt)) as [LW _]. pose proof (zsum_nonneg _ (k_w _ _ B0)) as S0.
  destruct (Z1 (its_w (snd dt)) (pos e y) (k_w _ _ B0) (pos_pos e y He) ltac:(rewrite len_pos; lia)) as [C C']. split; [lra|]. intros S. destruct (Z.eq_dec (zsum (its_w (snd dt))) 0) as [Q|Q]; [assert (0 < weight_at l (map (pos e) ys)) by (apply B; lia); lra|]. assert (0 < dot (its_w (snd dt)) (pos e y)) by (apply C'; lia). lra.
Qed.
Lemma forms_scale c : forall cs ys, forms cs (map (scale c) ys) = c * forms cs ys.
Proof. induction cs as [|a cs IH]; intros [|y ys]; cbn [forms map]; try lra. rewrite IH, weighed_scale. ring. Qed.
Lemma nth_sides i : forall l j n o, nth_error (sides den i j l) n = Some o -> exists dt, nth_error l n = Some dt /\ o = ((i =? j + Z.of_nat n)%Z, (IZR (fst dt) / IZR den, rates den (snd dt))).
Proof.
  induction l as [|dt l IH]; intros j [|n] o E'; cbn [sides nth_error] in *; try discriminate. { apply Some_inj in E'. exists dt. split; auto. rewrite <- E'. now rewrite Z.add_0_r. }
  destruct (IH (j + 1)%Z n o E') as (dt' & A & B). exists dt'. split; auto. rewrite B. replace (j + Z.of_nat (S n))%Z with (j + 1 + Z.of_nat n)%Z by lia. auto.
Qed.
Lemma len_sides i : forall l j, length (sides den i j l) = length l. Proof. induction l; intros j; simpl; auto. Qed.
Lemma Forall2_error {A B} (P : A -> B -> Prop) : forall l m, length l = length m -> (forall n a b, nth_error l n = Some a -> nth_error m n = Some b -> P a b) -> Forall2 P l m.
Proof. induction l as [|a l IH]; intros [|b m] L H; simpl in L; try discriminate; constructor. apply (H 0%nat); auto. apply IH; [lia|]. intros n. apply (H (S n)). Qed.
Definition corner_gaps i := all_gaps g h i (map (fun dt => (fst dt, choices (snd dt))) bd).
Lemma turns_good rest own : (0 <= rest)%Z -> forall ps e, Forall (fun p => (0 <= sh p)%Z) ps -> In e (turns_of g h rest own ps) -> (0 < snd e)%Z.
Proof.
  intros R0. induction ps as [|p ps IH]; intros e F I; cbn [turns_of] in I; [destruct I|]. inversion F; subst. destruct ((sx p =? 0)%Z && (0 <? sh p)%Z)%bool eqn:C; [|auto]. destruct I as [<-|I]; [|auto]. apply andb_prop in C. destruct C as [_ C]. apply Z.ltb_lt in C. destruct own; cbn [snd]; nia.
Qed.
Lemma gaps_good i : Forall (good_gap g h) (corner_gaps i).
Proof.
  assert (SH : forall its, Forall (Z.le 0) (its_r its) -> Forall (fun p => (0 <= sh p)%Z) (choices its)).
  { induction its as [|[[r w] a] its IH]; intros H; cbn [choices]. { constructor; [simpl; lia|constructor]. } inversion H; subst. apply Forall_forall. intros p I. apply in_flat_map in I. destruct I as (q & Iq & I). specialize (IH H4). rewrite Forall_forall in IH. specialize (IH q Iq).
    destruct I as [<-|[<-|I]]; cbn [sh]; try lia. destruct ((sx q =? 0)%Z && (0 <? r)%Z)%bool; [destruct I as [<-|[]]|destruct I]; cbn [sh]; lia. }
  unfold corner_gaps, all_gaps. constructor; [unfold good_gap; cbn [fst snd]; lia|]. constructor; [unfold good_gap; cbn [fst snd]; lia|]. apply Forall_forall. intros e I. apply filter_In in I. destruct I as [I C]. apply andb_prop in C. destruct C as [C1 C2]. apply Z.leb_le in C1, C2. split; auto.
  assert (AT : forall l j, Forall (block_data den) l -> In e (all_turns g h i j (map (fun dt => (fst dt, choices (snd dt))) l)) -> (0 < snd e)%Z); [|now apply (AT bd 0%Z)]. clear C1 C2 I. intros l j HL. revert j. induction HL as [|dt l B0 HL IH]; intros j I; cbn [map all_turns] in I; [destruct I|].
  apply in_app_iff in I. destruct I as [I|I]; [|now apply (IH (j + 1)%Z)]. eapply turns_good; [apply (k_rest _ _ B0)|apply SH, (k_r _ _ B0)|exact I].
Qed.
Lemma gaps_turn i : turns_in G (sides den i 0 bd) (fun x => In x (map frac (corner_gaps i))).
Proof.
  intros o pat rh I L HR R0. cbv zeta. intros HG. pose proof Hh as h1. apply IZR_lt in h1. pose proof HD as d1. apply IZR_lt in d1. pose proof Hg as gh. apply IZR_le in gh.
  assert (K : forall l j, Forall (block_data den) l -> In o (sides den i j l) -> exists n rest own, (rest >= 0)%Z /\ (n > 0)%Z /\ IZR n / IZR den = rh /\ o = (own, (IZR rest / IZR den, snd (snd o))) /\ In (if own : bool then (h * (rest + n), g * n) else (g * n, h * (rest + n)))%Z (all_turns g h i j (map (fun dt => (fst dt, choices (snd dt))) l))).
  { clear I HG. intros l j HL. revert j. induction HL as [|dt l B0 HL IH]; intros j I; cbn [sides] in I; [destruct I|]. destruct I as [<-|I].
    - cbn [fst snd] in *. set (its := snd dt) in *. assert (Q : exists p, In p (choices its) /\ sx p = 0%Z /\ IZR (sh p) / IZR den = rh).
      { pose proof (lone_len _ _ L) as Lp. unfold rates in *. rewrite map_length in Lp. assert (W : forall s, s <> SX -> exists p, In p (choices its) /\ sx p = 0%Z /\ IZR (sh p) / IZR den = over SH (swap s pat) (map (fun n => IZR n / IZR den) (its_r its))).
        { intros s Ns. destruct (choices_all its (swap s pat)) as (p & Ip & S). { apply lone_plain. now apply swap_plain. rewrite swap_len, map_length. exact Lp. } exists p. split; auto. split. apply eq_IZR. rewrite (st_x _ _ _ S). apply plain_over. now apply swap_plain. rewrite over_rates, (st_h _ _ _ S). reflexivity. }
        destruct HR as [-> | ->]. destruct (W SL ltac:(discriminate)) as (p & A & B & C). exists p. rewrite over_low in C. auto. destruct (W SH ltac:(discriminate)) as (p & A & B & C). exists p. rewrite over_high in C. auto. }
      destruct Q as (p & Ip & X & Q). assert (N : (0 < sh p)%Z). { apply lt_IZR. rewrite <- Q in R0. apply (Rmult_lt_compat_r (IZR den)) in R0; auto. rewrite Rmult_0_l in R0. replace (IZR (sh p) / IZR den * IZR den) with (IZR (sh p)) in R0 by (field; lra). exact R0. }
      exists (sh p), (fst dt), (i =? j)%Z. split; [apply Z.le_ge, (k_rest _ _ B0)|]. split; [lia|]. split; auto. split; auto. cbn [map all_turns]. apply in_app_iff. left. fold its. clear - Ip X N. induction (choices its) as [|q ps IH]; [destruct Ip|]. cbn [turns_of]. destruct Ip as [->|Ip].
      + rewrite X. cbn [Z.eqb andb]. destruct (Z.ltb_spec 0 (sh p)); [now left|lia].
      + destruct ((sx q =? 0)%Z && (0 <? sh q)%Z)%bool; [right|]; auto.
    - destruct (IH (j + 1)%Z I) as (n & rest & own & A & B & C & D0 & F). exists n, rest, own. repeat split; auto. cbn [map all_turns]. apply in_app_iff. now right. }
  destruct (K bd 0%Z HB I) as (n & rest & own & A & B & C & D0 & F). assert (n1 : 0 < IZR n) by (apply IZR_lt; lia). assert (r1 : 0 <= IZR rest) by (apply IZR_le; lia).
  set (e := if own then (h * (rest + n), g * n)%Z else (g * n, h * (rest + n))%Z) in *. assert (FE : turn G (fst o) (fst (snd o)) rh = frac e).
  { rewrite D0. cbn [fst snd]. rewrite <- C. unfold turn, e, frac. destruct own; cbn [fst snd]; rewrite !mult_IZR, plus_IZR; field; repeat split; try lra; nra. }
  rewrite FE in *. apply in_map. unfold corner_gaps, all_gaps. right. right. apply filter_In. split; auto. assert (s0 : (0 < snd e)%Z) by (unfold e; destruct own; cbn [snd]; nia). pose proof s0 as s1. apply IZR_lt in s1. unfold frac in HG. destruct HG as [G1 G2].
  apply andb_true_intro. split; apply Z.leb_le; apply le_IZR.
  - apply Rmult_le_compat_r with (r := IZR (snd e)) in G1; [|lra]. replace (IZR (fst e) / IZR (snd e) * IZR (snd e)) with (IZR (fst e)) in G1 by (field; lra). lra.
  - rewrite !mult_IZR. apply Rmult_le_compat_r with (r := IZR (snd e) * IZR h) in G2; [|nra]. replace (IZR (fst e) / IZR (snd e) * (IZR (snd e) * IZR h)) with (IZR (fst e) * IZR h) in G2 by (field; lra). replace (G * (IZR (snd e) * IZR h)) with (IZR g * IZR (snd e)) in G2 by (field; lra). exact G2.
Qed.
(* What all corners at all gaps pay for, every column of the cone pays for. *)
Theorem cone_pays ys : fits_cols bd ys ->
  (forall s t dt y dt' y' a c, nth_error bd s = Some dt -> nth_error ys s = Some y -> nth_error bd t = Some dt' -> nth_error ys t = Some y' -> s <> t -> In a y -> In c y' ->
     held (IZR (fst dt) / IZR den, rates den (snd dt)) y a <= G * held (IZR (fst dt') / IZR den, rates den (snd dt')) y' c) ->
  (exists s dt y a, nth_error bd s = Some dt /\ nth_error ys s = Some y /\ In a y /\ 0 < held (IZR (fst dt) / IZR den, rates den (snd dt)) y a) ->
  (forall i b vs, (0 <= i < Z.of_nat (length bd))%Z -> In b (map frac (corner_gaps i)) -> corners_at g h den bd i b vs -> pays_for E T bd vs) -> pays_for E T bd ys.
Proof.
  intros FY HC HP HK. pose proof HE as E1. apply IZR_lt in E1. pose proof HT as T1. apply IZR_lt in T1. pose proof Hh as h1. apply IZR_lt in h1. pose proof Hg as gh. apply IZR_le in gh.
  assert (G1 : 1 <= G) by (apply (Rmult_le_reg_r (IZR h)); auto; replace (G * IZR h) with (IZR g) by (field; lra); lra).
  pose proof (weight_pos den bd ys HB FY) as W0. unfold pays_for. set (w := weight bd ys) in *. apply (as_little _ _ (IZR E * IZR T)); [nra|]. intros e He.
  set (a := weight_at bd (map (pos e) ys) / IZR T). pose proof (weight_full e He bd ys HB FY ltac:(pose proof (eq_IZR _ _ ST); lia)) as WF. assert (a0 : 0 < a) by now apply Rdiv_lt_0_compat. assert (Ea : a * IZR T = weight_at bd (map (pos e) ys)) by (unfold a; field; lra).
  set (cs := tilts (1 + ln a) e bd ys). pose proof (forms_at (1 + ln a) e bd ys FY) as FA. fold cs w in FA. pose proof (weight_near e He bd ys HB FY) as WN. rewrite ST in WN. fold w in WN.
  assert (Q : forms cs ys <= 0).
  { set (os := map (fun dt : Z * list (Z * Z * Z) => (IZR (fst dt) / IZR den, rates den (snd dt))) bd). assert (LY : length bd = length ys) by (clear - FY; induction FY; simpl; auto).
    destruct (some_home G os ys G1) as (i & k & b & Hi & Hk & Hb & HIN).
    - unfold os. now rewrite map_length.
    - unfold os. now rewrite map_length.
    - apply Forall_forall. intros y Iy. destruct (In_nth_error _ _ Iy) as (n & N). assert (X : exists dt, nth_error bd n = Some dt) by (destruct (nth_error bd n) eqn:X; eauto; apply nth_error_None in X; assert (n < length ys)%nat by (apply nth_error_Some; congruence); lia). destruct X as (dt & X).
      assert (K : length y = length (snd dt)). { clear - FY N X. revert n N X. induction FY as [|dt' y' l ys [L _] FY IH]; intros [|n] N X; cbn [nth_error] in *; try discriminate; eauto. apply Some_inj in N, X. now subst. }
      rewrite Forall_forall in HB. pose proof (k_some _ _ (HB dt (nth_error_In _ _ X))) as NE. intros ->. destruct (snd dt); [congruence|discriminate].
    - unfold os. clear - FY. induction FY as [|dt y l ys [L N] FY IH]; cbn [map]; constructor; auto. cbn [snd]. rewrite len_rates. auto.
    - intros s t o y o' y' u c O1 Y1 O2 Y2 N I1 I2. unfold os in O1, O2. rewrite nth_error_map in O1, O2. destruct (nth_error bd s) as [dt|] eqn:B1; [|discriminate]. destruct (nth_error bd t) as [dt'|] eqn:B2; [|discriminate]. apply Some_inj in O1, O2. subst o o'. eapply HC; eauto.
    - destruct HP as (s & dt & y & u & A & B & C & D0). exists s, (IZR (fst dt) / IZR den, rates den (snd dt)), y, u. split; [unfold os; now rewrite nth_error_map, A|]. split; auto.
    - unfold os in Hi. rewrite map_length in Hi. set (zi := Z.of_nat i).
      assert (V : forms cs (map (scale k) ys) <= 0).
      { refine (blocks_best G (map frac (corner_gaps zi)) (sides den zi 0 bd) cs G1 _ _ _ (gaps_turn zi) _ _ _ b (map (scale k) ys) Hb _).
        - left. unfold frac. simpl. field.
        - right. left. reflexivity.
        - intros x X. apply in_map_iff in X. destruct X as (p & <- & X). pose proof (gaps_good zi) as GG. rewrite Forall_forall in GG. now apply (gap_range g h Hh), GG.
        - assert (X : forall l j, Forall (block_data den) l -> Forall (fun o => shares_ok (fst (snd o)) (snd (snd o))) (sides den zi j l)); [|now apply X]. clear - HD. intros l j HL. revert j. induction HL; intros j; cbn [sides]; constructor; auto. cbn [fst snd]. apply data_shares; auto.
        - unfold cs, tilts. generalize (1 + ln a). intros la. clear - FY. generalize 0%Z. induction FY as [|dt y l ys [L N] FY IH]; intros j; cbn [combine map sides]. { constructor. } constructor; [|apply IH]. cbn [fst snd]. destruct (len_its (snd dt)) as [LW LA]. rewrite len_rates, len_tilt; try rewrite len_pos; lia.
        - intros b' ks Ib Fk. set (vs := map (fun p : block * (how * list spot) => vector_at G b' (fst p) (snd p)) (combine (sides den zi 0 bd) ks)).
          assert (CA : corners_at g h den bd zi b' vs). { unfold corners_at, vs. clear - Fk. induction Fk as [|o kp os ks F Fk IH]; cbn [combine map]; constructor; eauto. }
          assert (EV : value cs G b' (sides den zi 0 bd) ks = forms cs vs). { unfold vs. generalize cs. clear - Fk. induction Fk as [|o kp os ks F Fk IH]; intros [|c l]; cbn [value combine map forms]; auto. rewrite IH. reflexivity. }
          rewrite EV. pose proof (HK zi b' vs ltac:(unfold zi; lia) Ib CA) as PF. unfold pays_for in PF.
          assert (Rb : 1 <= b' <= G). { apply in_map_iff in Ib. destruct Ib as (p & <- & X). pose proof (gaps_good zi) as GG. rewrite Forall_forall in GG. now apply (gap_range g h Hh), GG. }
          pose proof (corners_cols g h den HD b' Rb bd zi 0%Z vs HB CA) as FV. pose proof (weight_pos den bd vs HB FV) as V0.
          assert (FB : forall z, 0 < z -> forms cs vs <= earnings E bd vs - IZR E * (1 + ln z) * weight bd vs + IZR E * z * IZR T).
          { intros z Hz. pose proof (forms_below e ys z He Hz bd vs ys HB FY FV eq_refl a a0) as K. fold cs in K. rewrite <- Ea in K. replace (IZR E * (z / a) * (a * IZR T)) with (IZR E * z * IZR T) in K by (field; lra). lra. }
          destruct V0 as [V0|V0].
          + specialize (FB (weight bd vs / IZR T) ltac:(now apply Rdiv_lt_0_compat)). unfold phi in PF. replace (IZR T * (weight bd vs / IZR T * ln (weight bd vs / IZR T))) with (weight bd vs * ln (weight bd vs / IZR T)) in PF by (field; lra).
            replace (IZR E * (weight bd vs / IZR T) * IZR T) with (IZR E * weight bd vs) in FB by (field; lra). lra.
          + rewrite <- V0 in *. replace (0 / IZR T) with 0 in PF by (field; lra). unfold phi in PF. rewrite Rmult_0_l, !Rmult_0_r in PF. apply (as_little _ _ (IZR E * IZR T)); [nra|]. intros z Hz. specialize (FB z Hz). lra.
        - apply Forall2_error. { rewrite len_sides, map_length. exact LY. } intros n o y' O1 Y1. destruct (nth_sides _ _ _ _ _ O1) as (dt & N & ->). rewrite nth_error_map in Y1. destruct (nth_error ys n) as [y|] eqn:Y2; [|discriminate]. apply Some_inj in Y1. subst y'.
          specialize (HIN n (IZR (fst dt) / IZR den, rates den (snd dt)) y ltac:(unfold os; now rewrite nth_error_map, N) Y2). unfold low_of, high_of. cbn [fst snd] in *. replace (zi =? 0 + Z.of_nat n)%Z with (Nat.eqb i n) by (unfold zi; destruct (Nat.eqb_spec i n), (Z.eqb_spec (Z.of_nat i) (0 + Z.of_nat n)); auto; lia). exact HIN. }
      rewrite forms_scale in V. apply (Rmult_le_reg_l k); auto. lra. }
  destruct W0 as [W0|W0].
  - unfold phi. replace (IZR T * (w / IZR T * ln (w / IZR T))) with (w * ln (w / IZR T)) by (field; lra).
    assert (LN : w * (ln a - ln (w / IZR T)) <= a * IZR T - w).
    { assert (c0 : 0 < w / IZR T) by now apply Rdiv_lt_0_compat. pose proof (ln_le_sub (a * / (w / IZR T)) ltac:(apply Rmult_lt_0_compat; auto using Rinv_0_lt_compat)) as K. rewrite ln_mult, ln_Rinv in K by auto using Rinv_0_lt_compat.
      apply Rmult_le_compat_l with (r := w) in K; [|lra]. replace (w * (a * / (w / IZR T) - 1)) with (a * IZR T - w) in K by (field; lra). lra. }
    apply Rmult_le_compat_l with (r := IZR E) in LN; [|lra]. apply Rmult_le_compat_l with (r := IZR E) in WN; [|lra]. rewrite Ea in LN. lra.
  - rewrite <- W0 in *. replace (0 / IZR T) with 0 by (field; lra). unfold phi. rewrite Rmult_0_l, !Rmult_0_r in *. assert (0 <= e * (IZR E * IZR T)) by (apply Rmult_le_pos; nra). lra.
Qed.
End Top.

(* ---- the theorem ---- *)
Lemma its_of : forall r w a : list Z, length w = length r -> length a = length r -> its_r (combine (combine r w) a) = r /\ its_w (combine (combine r w) a) = w /\ its_a (combine (combine r w) a) = a.
Proof.
  induction r as [|x r IH]; intros [|y w] [|z a] L M; simpl in L, M; try discriminate; auto. destruct (IH w a ltac:(lia) ltac:(lia)) as (A & B & C). cbn [combine]. unfold its_r, its_w, its_a in *. cbn [map fst snd]. now rewrite A, B, C.
Qed.
Lemma len_pick {A} (w : A) b l : length (pick w b l) = length b. Proof. apply map_length. Qed.
Lemma given_held den low (b : list Z) y q : 0 < IZR den -> given_by den low b y q = held (IZR (den - zsum (pick 0%Z b low)) / IZR den, map (fun n => IZR n / IZR den) (pick 0%Z b low)) (pick 0 b q) y.
Proof.
  intros D0. unfold given_by, held, least_share. cbn [fst snd].
  assert (A : total (fun x => IZR (nth (Z.to_nat x) low 0%Z) / IZR den) b = IZR (zsum (pick 0%Z b low)) / IZR den). { induction b as [|x b IH]; simpl; [unfold Rdiv; lra|]. rewrite IH, plus_IZR. unfold Rdiv. ring. }
  assert (B : total (fun x => IZR (nth (Z.to_nat x) low 0%Z) / IZR den * entry x q) b = weighed_sum (map (fun n => IZR n / IZR den) (pick 0%Z b low)) (pick 0 b q)). { clear A. induction b as [|x b IH]; simpl; [lra|]. now rewrite IH. }
  rewrite A, B, minus_IZR. field. lra.
Qed.
Lemma numbers_in {A} (f : Z -> A) : forall n i j, (i <= j < i + Z.of_nat n)%Z -> In (f j) (iota i n f).
Proof. intros. now apply in_iota. Qed.
Lemma relative_whole G v : Forall (Z.le 0) G -> Forall (Rle 0) v -> information [G] v = zphi Entropic G v - IZR (zsum G) * xlogx (dot G v / IZR (zsum G)).
Proof. intros. unfold information. simpl total. rewrite relative_split by auto. simpl. lra. Qed.
Theorem blocked_sound co N M hd toks : blocked co (N, M) hd toks = true -> forall Q, fits co Q -> nets co Q <= IZR N / IZR M.
Proof.
  unfold blocked, blocks_start. cbv zeta. intros H Q [[HQ _] _]. unfold nets, earns. set (pb := plain (inner co)) in *. set (W := weights pb) in *. destruct (bratio hd) as [g h].
  destruct (objective pb) as [| |[|G0 [|]]|] eqn:OB; try discriminate. destruct (base pb) as [| | |r den low sets] eqn:BA; try discriminate. destruct (loss co); [discriminate|]. destruct (bonus (inner co)) eqn:BO; [|discriminate].
  match type of H with match (if ?c then _ else _) with _ => _ end = _ => destruct c eqn:C; [|discriminate] end. split_and C. rename C0 into B12, C1 into HG, C2 into AL, C3 into RO, C4 into PAYS, C5 into LP, C6 into M0, C7 into E0, C8 into WF.
  apply same_eq in C. subst G0. apply well_formed_ok in WF. apply Z.ltb_lt in E0, M0. simpl in M0. apply alike_len in LP. apply Z.leb_le in HG. apply at_least_ok in AL. destruct AL as (g0 & h0 & AL).
  pose proof (fT pb WF) as T0. fold W in T0. pose proof (fW pb WF) as HW. fold W in HW. set (E := bunit hd) in *. set (A := zscale (zsum W) (bprices hd)) in *. unfold robust_ok in RO. split_and RO. rename RO into D0, RO0 into RR, RO1 into RM, RO2 into RI, RO3 into RN, RO4 into R2, RO5 into RL, RO7 into LK.
  apply Z.ltb_lt in D0. apply Z.leb_le in R2. apply nonneg_all in RL. apply Z.eqb_eq in LK. rewrite !zlen_len in LK. rewrite zlen_len in R2. assert (Ll : length low = length W) by lia. assert (LA : length A = length W) by (unfold A; rewrite len_scale; exact LP).
  set (data := fun b : list Z => (den - zsum (pick 0%Z b low), combine (combine (pick 0%Z b low) (pick 0%Z b W)) (pick 0%Z b A))%Z). set (bd := map data sets).
  assert (IT : forall b, its_r (snd (data b)) = pick 0%Z b low /\ its_w (snd (data b)) = pick 0%Z b W /\ its_a (snd (data b)) = pick 0%Z b A) by (intros b; unfold data; cbn [snd]; apply its_of; rewrite !len_pick; auto).
  assert (PN : forall b l, Forall (Z.le 0) l -> Forall (Z.le 0) (pick 0%Z b l)).
  { intros b l Hl. apply Forall_map, Forall_forall. intros x _. destruct (nth_in_or_default (Z.to_nat x) l 0%Z) as [I| ->]; [|lia]. rewrite Forall_forall in Hl. auto. }
  assert (HB : Forall (block_data den) bd).
  { apply Forall_map, Forall_forall. intros b Ib. rewrite forallb_forall in RR, RN. specialize (RR b Ib). specialize (RN b Ib). cbv zeta in RR. destruct (IT b) as (I1 & I2 & I3). apply orb_prop in RR. constructor; rewrite ?I1, ?I2; auto.
    - unfold data. cbn [fst]. destruct RR as [RR|RR]; [apply Z.ltb_lt in RR; lia|]. apply andb_prop in RR. destruct RR as [RR _]. apply Z.eqb_eq in RR. lia.
    - unfold data. cbn [fst]. lia.
    - unfold data. cbn [snd]. destruct b as [|x b]; [discriminate|]. cbn. discriminate.
    - intros Z0. unfold data in Z0. cbn [fst] in Z0. destruct RR as [RR|RR]; [apply Z.ltb_lt in RR; lia|]. apply andb_prop in RR. destruct RR as [_ RR]. apply Forall_forall. rewrite forallb_forall in RR. intros x X. now apply Z.ltb_lt, RR. }
  assert (EB : map (fun b => (den - zsum (pick 0%Z b low), choices (combine (combine (pick 0%Z b low) (pick 0%Z b W)) (pick 0%Z b A)))%Z) sets = map (fun dt => (fst dt, choices (snd dt))) bd) by (unfold bd; rewrite map_map; reflexivity).
  rewrite EB in H. clear EB.
  assert (ST : IZR (zsum (map (fun dt => zsum (its_w (snd dt))) bd)) = IZR (zsum W)).
  { rewrite (msum_zsum W (map (fun _ => 0) W)) by apply map_length. rewrite (parted _ W (map (fun _ => 0) W) low sets) by (auto; apply map_length). unfold bd. rewrite map_map. clear - IT. induction sets as [|b s IH]; cbn [map zsum total]; auto. rewrite plus_IZR, IH. f_equal. destruct (IT b) as (_ & -> & _). apply msum_zsum. now rewrite !len_pick. }
  pose proof (run_ok E (zsum W) g h den bd E0 T0 h0 HG D0 HB toks _ H) as GOOD.
  assert (X : worth pb Q + entropy [] Q / IZR (zsum []) = worth pb Q) by (rewrite entropy_nil; unfold Rdiv; ring). rewrite X.
  apply (conclude pb (N, M) (Header Box E (bprices hd) [] []) WF E0 Q 0%Z N M eq_refl M0 HQ LP); [simpl; lra|cbn [eunit prices]; rewrite Z.add_0_r; exact PAYS|unfold kind_of; rewrite OB; discriminate|].
  intros q Iq. destruct HQ as [HQ _]. rewrite Forall_forall in HQ. destruct (HQ q Iq) as (Lq & Nq & Cq & _). rewrite BA in Cq. fold W in Lq, Cq. simpl eunit. simpl prices. fold W. fold A.
  assert (EE : earned pb q = information [W] q) by (unfold earned, kind_of, groups_of; now rewrite OB). rewrite EE.
  set (ys := map (fun b => pick 0 b q) sets).
  assert (Sum : forall f, msum f W q = total (fun b => msum f (pick 0%Z b W) (pick 0 b q)) sets) by (intros f; apply (parted f W q low sets); auto; rewrite zlen_len in *; auto).
  assert (WQ : weight bd ys = dot W q).
  { rewrite msum_dot, Sum. unfold bd, ys. clear - IT. induction sets as [|b s IH]; cbn [map weight total]; auto. rewrite IH. f_equal. destruct (IT b) as (_ & -> & _). apply msum_dot. }
  assert (EQ : earnings E bd ys = IZR E * zphi Entropic W q - dot A q).
  { rewrite msum_zphi, Sum. rewrite (msum_dot A q), (parted _ A q low sets) by (auto; try lia; rewrite ?LA; replace (zlen A) with (zlen W) by (rewrite !zlen_len; lia); auto). unfold bd, ys. clear - IT. induction sets as [|b s IH]; cbn [map earnings total]; [lra|]. rewrite IH. destruct (IT b) as (_ & I2 & I3).
    unfold earns_in. rewrite I2, I3, msum_zphi, (msum_dot (pick 0%Z b A)). lra. }
  enough (PF : pays_for E (zsum W) bd ys). { unfold pays_for in PF. rewrite WQ, EQ in PF. rewrite relative_whole by auto. lra. }
  assert (FY : Forall2 (fun (dt : Z * list (Z * Z * Z)) v => length v = length (snd dt) /\ Forall (Rle 0) v) bd ys).
  { unfold bd, ys. clear - Nq. induction sets as [|b s IH]; cbn [map]; constructor; auto. split. { unfold data. cbn [snd]. rewrite !combine_length, !len_pick. lia. }
    apply Forall_map, Forall_forall. intros x _. destruct (nth_in_or_default (Z.to_nat x) q 0) as [I| ->]; [|lra]. rewrite Forall_forall in Nq. auto. }
  destruct (Forall_Exists_dec (fun y => y <= 0) (fun y => Rle_dec y 0) q) as [Zq|Pq].
  { (* the column 0 *)
    assert (ZA : Forall (eq 0) q) by (rewrite Forall_forall in *; intros y Iy; specialize (Zq y Iy); specialize (Nq y Iy); lra). unfold pays_for. rewrite WQ, EQ. rewrite !(zero_all q ZA). destruct (zero_dot W q HW Nq ltac:(rewrite (zero_all q ZA); lra)) as (_ & -> & _). unfold Rdiv. rewrite Rmult_0_l. unfold phi. lra. }
  pose proof D0 as d1. apply IZR_lt in d1. pose proof h0 as h1. apply IZR_lt in h1.
  assert (RT : forall b, rates den (snd (data b)) = map (fun n => IZR n / IZR den) (pick 0%Z b low)) by (intros b; unfold rates; destruct (IT b) as (-> & _); reflexivity).
  refine (cone_pays E (zsum W) g h den bd E0 T0 h0 HG D0 HB _ ST ys FY _ _ _).
  - unfold bd. rewrite map_length. lia.
  - intros s t dt y dt' y' a c S1 S2 S3 S4 NE I1 I2. unfold bd in S1, S3. unfold ys in S2, S4. rewrite nth_error_map in S1, S2, S3, S4. destruct (nth_error sets s) as [b1|] eqn:B1; [|discriminate]. destruct (nth_error sets t) as [b2|] eqn:B2; [|discriminate].
    apply Some_inj in S1, S2, S3, S4. subst dt y dt' y'. apply in_map_iff in I1, I2. destruct I1 as (x & <- & X1). destruct I2 as (z & <- & X2). specialize (Cq s t b1 b2 x z B1 B2 NE X1 X2). fold (entry x q) (entry z q). rewrite !given_held in Cq by auto. rewrite !RT. unfold data. cbn [fst].
    eapply Rle_trans; [exact Cq|]. apply Rmult_le_compat_r; auto. unfold held. cbn [fst snd].
    assert (B0 : block_data den (data b2)) by (rewrite Forall_forall in HB; apply HB; unfold bd; apply in_map; now apply nth_error_In in B2). pose proof (k_rest _ _ B0) as K0. unfold data in K0. cbn [fst] in K0. apply IZR_le in K0.
    apply Rplus_le_le_0_compat. { apply Rmult_le_pos; [apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto|now apply entry_nonneg]. }
    assert (PP : forall l y, Forall (Z.le 0) l -> Forall (Rle 0) y -> 0 <= weighed_sum (map (fun n => IZR n / IZR den) l) y).
    { intros l. induction l as [|n l IH]; intros [|v y] F1 F2; simpl; try lra. inversion F1; inversion F2; subst. specialize (IH y H3 H7). apply IZR_le in H2. assert (0 <= IZR n / IZR den) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto). nra. }
    apply PP; auto. apply Forall_map, Forall_forall. intros u _. now apply entry_nonneg.
  - apply Exists_exists in Pq. destruct Pq as (y & Iy & Ny). destruct (In_nth q y 0 Iy) as (n & Ln & En).
    (* the input n is in a block *)
    assert (IB : exists b, In b sets /\ In (Z.of_nat n) b).
    { set (u := map (fun j => if Nat.eqb j n then 1 else 0) (seq 0 (length W))). assert (Lu : length u = length W) by (unfold u; now rewrite map_length, seq_length).
      assert (SU : 0 < msum (fun _ y => y) W u). { assert (NN : Forall (Rle 0) u) by (apply Forall_map, Forall_forall; intros j _; destruct (Nat.eqb j n); lra). assert (NU : nth n u 0 = 1).
        { unfold u. rewrite (nth_indep _ 0 ((fun j => if Nat.eqb j n then 1 else 0) 0%nat)) by (rewrite map_length, seq_length; lia). rewrite (map_nth (fun j => if Nat.eqb j n then 1 else 0)), seq_nth by lia. simpl. now rewrite Nat.eqb_refl. }
        assert (K : forall V v m, length v = length V -> Forall (Rle 0) v -> nth m v 0 = 1 -> 1 <= msum (fun _ y => y) V v).
        { clear. induction V as [|a V IH]; intros [|y v] m L F Q; simpl in L; try discriminate; [destruct m; simpl in Q; lra|]. inversion F; subst. cbn [msum]. assert (P : 0 <= msum (fun _ y => y) V v) by (clear - H2; revert v H2; induction V; intros [|y v] H; simpl; try lra; inversion H; subst; specialize (IHV v H3); lra).
          destruct m as [|m]; cbn [nth] in Q; [lra|]. specialize (IH v m ltac:(lia) H2 Q). lra. }
        specialize (K W u n Lu NN NU). lra. }
      rewrite (parted _ W u low sets) in SU by auto. apply Exists_exists. destruct (Exists_dec (fun b => In (Z.of_nat n) b) sets (fun b => in_dec Z.eq_dec (Z.of_nat n) b)) as [X1|X1]; auto. exfalso.
      assert (Z0 : total (fun b => msum (fun _ y => y) (pick 0%Z b W) (pick 0 b u)) sets = 0); [|lra]. clear SU.
      assert (K : forall b, ~ In (Z.of_nat n) b -> Forall (fun x => (0 <= x)%Z) b -> msum (fun _ y => y) (pick 0%Z b W) (pick 0 b u) = 0).
      { intros b Nb Pb. induction b as [|x b IH]; [reflexivity|]. cbn [pick map msum]. fold (pick 0%Z b W) (pick 0 b u). inversion Pb; subst. rewrite IH by (auto; intros Q0; apply Nb; now right). assert (EU : nth (Z.to_nat x) u 0 = 0); [|lra].
        destruct (le_lt_dec (length W) (Z.to_nat x)) as [B|B]; [apply nth_overflow; lia|]. unfold u. rewrite (nth_indep _ 0 ((fun j => if Nat.eqb j n then 1 else 0) 0%nat)) by (rewrite map_length, seq_length; lia). rewrite (map_nth (fun j => if Nat.eqb j n then 1 else 0)), seq_nth by lia.
        destruct (Nat.eqb_spec (0 + Z.to_nat x) n); auto. exfalso. apply Nb. left. lia. }
      clear - K X1 RI. induction sets as [|b s IH]; [reflexivity|]. cbn [concat] in RI. rewrite forallb_app in RI. apply andb_prop in RI. destruct RI as [R1 R2]. cbn [total]. rewrite IH by (auto; intros Q0; apply X1; now right). rewrite K; [lra| |].
      - intros Q0. apply X1. now left.
      - apply Forall_forall. intros x Ix. rewrite forallb_forall in R1. specialize (R1 x Ix). apply andb_prop in R1. destruct R1 as [R1 _]. now apply Z.leb_le. }
    destruct IB as (b & Ib & In0). destruct (In_nth_error _ _ Ib) as (s & Es). exists s, (data b), (pick 0 b q), (entry (Z.of_nat n) q). split; [unfold bd; now apply map_nth_error|]. split; [unfold ys; now apply (map_nth_error (fun b => pick 0 b q))|].
    split. { apply in_map_iff. exists (Z.of_nat n). split; auto. }
    assert (yp : 0 < entry (Z.of_nat n) q) by (unfold entry; rewrite Nat2Z.id, En; lra). unfold held. cbn [fst snd]. rewrite RT. assert (B0 : block_data den (data b)) by (rewrite Forall_forall in HB; apply HB; unfold bd; now apply in_map).
    assert (PP : forall l v, Forall (Z.le 0) l -> Forall (Rle 0) v -> 0 <= weighed_sum (map (fun n => IZR n / IZR den) l) v).
    { intros l. induction l as [|m l IH]; intros [|u v] F1 F2; simpl; try lra. inversion F1; inversion F2; subst. specialize (IH v H3 H7). apply IZR_le in H2. assert (0 <= IZR m / IZR den) by (apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto). nra. }
    assert (NV : Forall (Rle 0) (pick 0 b q)) by (apply Forall_map, Forall_forall; intros u _; now apply entry_nonneg). destruct (Z_lt_dec 0 (fst (data b))) as [K0|K0].
    + apply IZR_lt in K0. pose proof (PP (pick 0%Z b low) (pick 0 b q) (PN b low RL) NV) as P1. assert (0 < IZR (fst (data b)) / IZR den * entry (Z.of_nat n) q) by (apply Rmult_lt_0_compat; auto; now apply Rdiv_lt_0_compat). lra.
    + assert (K1 : fst (data b) = 0%Z) by (pose proof (k_rest _ _ B0); lia). pose proof (k_pos _ _ B0 K1) as K2. destruct (IT b) as (I1 & _). rewrite I1 in K2. rewrite K1. unfold Rdiv at 1. rewrite Rmult_0_l, Rmult_0_l, Rplus_0_l.
      clear - PP K2 In0 yp d1 Nq RL. induction b as [|x b IH]; [destruct In0|]. cbn [pick map weighed_sum] in *. fold (pick 0%Z b low) (pick 0 b q) in *. inversion K2 as [|? ? L0 K3]; subst. apply IZR_lt in L0.
      assert (V0 : 0 < IZR (nth (Z.to_nat x) low 0%Z) / IZR den) by now apply Rdiv_lt_0_compat. assert (V1 : 0 <= nth (Z.to_nat x) q 0) by (apply (entry_nonneg q x); auto).
      assert (V2 : 0 <= weighed_sum (map (fun n => IZR n / IZR den) (pick 0%Z b low)) (pick 0 b q)) by (apply PP; [eapply Forall_impl; [|exact K3]; simpl; intros; lia|apply Forall_map, Forall_forall; intros u _; now apply entry_nonneg]).
      destruct In0 as [->|In0]; [unfold entry in yp; assert (0 < IZR (nth (Z.to_nat (Z.of_nat n)) low 0%Z) / IZR den * nth (Z.to_nat (Z.of_nat n)) q 0) by (apply Rmult_lt_0_compat; auto); lra|]. specialize (IH In0 K3). nra.
  - intros i b vs Hi Ib CA. unfold bd in Hi at 1. rewrite map_length in Hi. rewrite Forall_forall in GOOD.
    assert (IR : In (Bstate i (all_gaps g h i (map (fun dt => (fst dt, choices (snd dt))) bd)) 0 None None) (numbers (zlen sets) (fun i => Bstate i (all_gaps g h i (map (fun dt => (fst dt, choices (snd dt))) bd)) 0 None None))).
    { refine (in_iota (fun i => Bstate i (all_gaps g h i (map (fun dt => (fst dt, choices (snd dt))) bd)) 0 None None) _ 0%Z i _). rewrite zlen_len, Nat2Z.id. lia. }
    apply (GOOD _ IR b vs). assert (LB : (2 <= length bd)%nat) by (unfold bd; rewrite map_length; lia). pose proof (gaps_good g h den bd h0 HG HB LB i) as GG. constructor; cbn [gaps home least_w most_w known]; auto.
    + apply in_map_iff in Ib. destruct Ib as (e & <- & Ie). exists e. auto.
    + apply in_map_iff in Ib. destruct Ib as (e & <- & Ie). rewrite Forall_forall in GG. pose proof (corners_cols g h den D0 _ (gap_range g h h0 e (GG e Ie)) bd i 0%Z vs HB CA) as FV. pose proof (weight_pos den bd vs HB FV). unfold vd. lra.
Qed.

(* ---- with the further constraints and utilities ---- *)
Require Rows.
Definition blocks_proved mo cl hs hd toks : bool := match Rows.reduce mo cl hs with Some (co, cl) => blocked co cl hd toks | None => false end.
Theorem blocks_sound mo N M hs hd toks : blocks_proved mo (N, M) hs hd toks = true -> forall Q, obeys mo Q -> nets_at_most mo Q (IZR N / IZR M).
Proof.
  unfold blocks_proved. intros H Q K. destruct (Rows.reduce mo (N, M) hs) as [[co [N' M']]|] eqn:E; [|discriminate].
  destruct (Rows.reduce_ok _ _ _ _ _ _ _ _ E K) as (Q' & A & B). apply B. eapply blocked_sound; eauto.
Qed.
