(* Cells of columns that are given by rays: a convex function of a column is at most linear prices on a cell if it is at the cell's rays. A cell is
   cut by a plane with one step of the double description method. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant Rows.
Import ListNotations.
Open Scope Z_scope.

(* ---- the check ---- *)
(* A ray, and a bit for each inequality of its cell, the last one first: whether it is zero there. *)
Record ray := Ray { at_ : list Z; zero : Z }.
Definition primitive (v : list Z) : list Z := let g := fold_right Z.gcd 0 v in let u := map (fun n => n / g) v in if (0 <? g) && same (zscale g u) v then u else v.
(* One of the rays is zero wherever both are, somewhere else besides, and not wherever one of the two is: no edge of the cell joins them. *)
Definition joined (rs : list ray) (p n : ray) : bool := let b := Z.land (zero p) (zero n) in
  negb (existsb (fun s => (Z.land (zero s) b =? b) && negb (zero s =? b) && negb (Z.land (zero s) (zero p) =? zero p) && negb (Z.land (zero s) (zero n) =? zero n)) rs).
Definition met (s : Z) (p : ray) (t : Z) (n : ray) : ray := let g := Z.gcd s t in let (s, t) := if (0 <? g) && (g * (s / g) =? s) && (g * (t / g) =? t) then (s / g, t / g) else (s, t) in
  Ray (primitive (zplus (zscale s (at_ n)) (zscale (- t) (at_ p)))) (2 * Z.land (zero p) (zero n) + 1).
(* The rays of the part of a cell where c.v <= 0. *)
Definition cut_by (c : list Z) (rs : list ray) : list ray := let vs := map (fun r => (zdot c (at_ r), r)) rs in
  let up := filter (fun vr => 0 <? fst vr) vs in let down := filter (fun vr => fst vr <? 0) vs in
  map (fun vr => Ray (at_ (snd vr)) (2 * zero (snd vr) + (if fst vr =? 0 then 1 else 0))) (filter (fun vr => fst vr <=? 0) vs) ++
  flat_map (fun p => flat_map (fun n => if joined rs (snd p) (snd n) then [met (fst p) (snd p) (fst n) (snd n)] else []) down) up.
(* ---- states and tokens ---- *)
(* One cell for all columns; one for each; or a column with a price. *)
Inductive rstate := Everywhere (rs : list ray) | Each (cells : list (list ray)) | Lonely (own : list Z) (rs : list ray).
Inductive rtoken := Along (e : Z) | Beside (i : Z) | Plane (y : Z) (c : list Z) | Pay (A L : list Z) | Holds.
Record renv := Renv { rproblem : problem; runit : Z; rclaim : Z * Z; redges : table }.
Definition alike_convex pb := Convex (weights pb) (objective pb).
(* c with c.v <= 0 in each column of the problem: of an edge, of a half-space. *)
Definition known_limit (en : renv) (tok : rtoken) : option (list Z) := match tok with
  | Along e => match edge_at (redges en) e with Some (x, z, g, h) => Some (unit_at (- g) z (unit_at h x (zeros (weights (rproblem en))))) | None => None end
  | Beside i => nthz i (halfspaces (rproblem en)) | _ => None end.
Definition each_cell (en : renv) (st : rstate) : option (list (list ray)) := match st with
  | Everywhere rs => match outputs (rproblem en) with Some m => Some (numbers m (fun _ => rs)) | None => None end
  | Each cells => Some cells | Lonely _ _ => None end.
Definition ray_holds (u : convex) (E : Z) (own : list Z) (r : ray) : bool := nonnegative (at_ r) && match above u (at_ r) with
  | Some s => E * s <=? scale_of u 1 * zdot own (at_ r) | None => false end.
Fixpoint lonely_states (k y : Z) (A : list Z) (t : trie Z) (cells : list (list ray)) : list rstate := match cells with [] => []
  | rs :: cells => Lonely (merge (y * k) t A) rs :: lonely_states k (y + 1) A t cells end.
Definition paid (en : renv) (A L : list Z) (cells : list (list ray)) : option (list rstate) := let pb := rproblem en in let k := zlen (weights pb) in match add_rows k 1 (rows pb) L Tip 0 with
  | Some (t, b) => if alike A (weights pb) && pays (rclaim en) (runit en) (zsum A + b) then Some (lonely_states k 0 A t cells) else None | None => None end.
Definition rstep (en : renv) (tok : rtoken) (st : rstate) : option (list rstate) := let W := weights (rproblem en) in match tok with
  | Plane y c => if negb (alike c W) then None else let no := zscale (-1) c in match st with
      | Lonely own rs => if y =? 0 then Some [Lonely own (cut_by c rs); Lonely own (cut_by no rs)] else None
      | _ => match each_cell en st with None => None | Some cells => match nthz y cells with None => None
          | Some rs => Some [Each (updz y (fun _ => cut_by c rs) cells); Each (updz y (fun _ => cut_by no rs) cells)] end end end
  | Pay A L => match each_cell en st, st with Some cells, _ => paid en A L cells | None, Everywhere rs => paid en A L [rs] | _, _ => None end
  | Holds => match st with Lonely own rs => if forallb (ray_holds (alike_convex (rproblem en)) (runit en) own) rs then Some [] else None | _ => None end
  | _ => match known_limit en tok, st with
      | Some c, Everywhere rs => Some [Everywhere (cut_by c rs)] | Some c, Lonely own rs => Some [Lonely own (cut_by c rs)] | _, _ => None end end.
Definition ray_advance (en : renv) (tok : rtoken) (stack : list rstate) : option (list rstate) := match stack with
  | st :: stack => match rstep en tok st with Some l => Some (l ++ stack) | None => None end | [] => None end.
Fixpoint ray_run (en : renv) (toks : list rtoken) (stack : list rstate) : bool := match toks with
  | [] => match stack with [] => true | _ => false end
  | tok :: toks => match ray_advance en tok stack with Some stack => ray_run en toks stack | None => false end end.
(* The unit vectors, with the inequalities - v_x <= 0. *)
Fixpoint mark (cs : list (list Z)) (v : list Z) : Z := match cs with [] => 0 | c :: cs => 2 * mark cs v + (if zdot c v =? 0 then 1 else 0) end.
Definition sides (W : list Z) : list (list Z) := numbers (zlen W) (fun x => unit_at (-1) x (zeros W)).
Definition orthant (W : list Z) : list ray := numbers (zlen W) (fun x => let e := unit_at 1 x (zeros W) in Ray e (mark (sides W) e)).
Definition ray_start (pb : problem) (cl : Z * Z) (E : Z) (ratios : list (Z * Z)) : option (renv * list rstate) := let W := weights pb in match edges_of (zlen W) (base pb) ratios with
  | Some es => if well_formed pb && well_formed (alone (alike_convex pb)) && (0 <? E) && (0 <? snd cl) then Some (Renv pb E cl es, [Everywhere (orthant W)]) else None
  | None => None end.
Definition rayed pb cl E ratios toks : bool := match ray_start pb cl E ratios with Some (en, stack) => ray_run en toks stack | None => false end.
Definition rays_proved mo cl hs touches points E ratios toks : bool := match reduce mo cl hs with None => false | Some (co, cl) => match straight co touches with None => false
  | Some en => match relax en cl points with Some (pb, cl) => rayed pb cl E ratios toks | None => false end end end.
Close Scope Z_scope.
Open Scope R_scope.

(* ---- what masks of bits say ---- *)
Lemma land_bit a b x y : Z.land (2 * a + Z.b2z x) (2 * b + Z.b2z y) = (2 * Z.land a b + Z.b2z (x && y))%Z.
Proof.
  apply Z.bits_inj'. intros n Hn. rewrite Z.land_spec. destruct (Z.eq_dec n 0) as [->|N].
  - rewrite !(Z.add_comm (2 * _)), !Z.add_b2z_double_bit0. reflexivity.
  - replace n with (Z.succ (n - 1)) by lia. rewrite !(Z.add_comm (2 * _)). rewrite <- !Z.div2_bits by lia. rewrite !Z.add_b2z_double_div2. now rewrite Z.land_spec.
Qed.
Lemma bit_inj a b x y : (2 * a + Z.b2z x = 2 * b + Z.b2z y)%Z -> a = b /\ x = y.
Proof. destruct x, y; unfold Z.b2z; intros; split; auto; lia. Qed.
Fixpoint marked (cs : list (list Z)) (m : Z) (v : list R) : Prop := match cs with [] => m = 0%Z
  | c :: cs => exists a x, m = (2 * a + Z.b2z x)%Z /\ (x = true <-> dot c v = 0) /\ marked cs a v end.
Lemma marked_sub p n s : forall cs mp mn ms, marked cs mp p -> marked cs mn n -> marked cs ms s -> Z.land ms (Z.land mp mn) = Z.land mp mn ->
  Forall (fun c => dot c p = 0 -> dot c n = 0 -> dot c s = 0) cs.
Proof.
  induction cs as [|c cs IH]; intros mp mn ms (a & x & -> & X & A) (b & y & -> & Y & B) (e & z & -> & Z0 & C) H || intros; constructor.
  - rewrite !land_bit in H. apply bit_inj in H. destruct H as [_ H]. intros P N. apply X in P. apply Y in N. subst. apply Z0. destruct z; auto.
  - rewrite !land_bit in H. apply bit_inj in H. destruct H as [H _]. eapply IH; eauto.
Qed.
Lemma marked_equal p n s : forall cs mp mn ms, marked cs mp p -> marked cs mn n -> marked cs ms s ->
  Forall (fun c => dot c s = 0 <-> dot c p = 0 /\ dot c n = 0) cs -> ms = Z.land mp mn.
Proof.
  induction cs as [|c cs IH]; intros mp mn ms. { simpl. intros -> -> -> _. reflexivity. }
  intros (a & x & -> & X & A) (b & y & -> & Y & B) (e & z & -> & Z0 & C) H. inversion H as [|? ? H1 H2]; subst. rewrite land_bit, <- (IH a b e) by auto. f_equal. f_equal.
  destruct x, y, z; simpl; auto; exfalso; intuition congruence.
Qed.
Lemma marked_all p s : forall cs mp ms, marked cs mp p -> marked cs ms s -> Forall (fun c => dot c p = 0 -> dot c s = 0) cs -> Z.land ms mp = mp.
Proof.
  induction cs as [|c cs IH]; intros mp ms. { simpl. intros -> -> _. reflexivity. }
  intros (a & x & -> & X & A) (e & z & -> & Z0 & C) H. inversion H as [|? ? H1 H2]; subst. rewrite land_bit, (IH a e) by auto. f_equal. f_equal.
  destruct x, z; simpl; auto. exfalso. assert (false = true) by (apply Z0, H1, X; auto). discriminate.
Qed.

(* ---- vectors ---- *)
Definition reals (r : list Z) : list R := map IZR r.
Lemma dot_reals c r : dot c (reals r) = IZR (zdot c r).
Proof. revert r. induction c; destruct r; simpl; auto. unfold reals in IHc. rewrite IHc, plus_IZR, mult_IZR. lra. Qed.
Lemma plus_assoc : forall a b c, plus (plus a b) c = plus a (plus b c).
Proof. induction a; destruct b, c; simpl; auto. rewrite IHa. f_equal. lra. Qed.
Lemma plus_zero_l : forall a b, Forall (eq 0) a -> length a = length b -> plus a b = b.
Proof. induction a; destruct b; simpl; intros H L; try discriminate; auto. inversion H; subst. rewrite IHa by (auto; lia). f_equal. lra. Qed.
Lemma scale_plus w : forall a b, scale w (plus a b) = plus (scale w a) (scale w b).
Proof. unfold scale. induction a; destruct b; simpl; auto. rewrite IHa. f_equal. lra. Qed.
Lemma scale_twice w u : forall a, scale w (scale u a) = scale (w * u) a.
Proof. unfold scale. induction a; simpl; auto. rewrite IHa. f_equal. lra. Qed.
Lemma scale_zero w : forall a, Forall (eq 0) a -> Forall (eq 0) (scale w a).
Proof. induction 1; simpl; constructor; auto. subst. lra. Qed.
Lemma plus_zero : forall a b, Forall (eq 0) a -> Forall (eq 0) b -> Forall (eq 0) (plus a b).
Proof. induction a; destruct b; simpl; intros; constructor; inversion H; inversion H0; subst; auto. lra. Qed.
Lemma plus_back t m : forall v, length v = length m -> plus (plus v (scale (- t) m)) (scale t m) = v.
Proof. unfold scale. induction m; destruct v; simpl; intros; try discriminate; auto. rewrite IHm by lia. f_equal. lra. Qed.

Section Spans.
Variable n : nat.
Inductive spans (R : list (list Z)) : list Rdefinitions.R -> Prop :=
  | spans_none v : length v = n -> Forall (eq 0) v -> spans R v
  | spans_more r w v : In r R -> 0 <= w -> spans R v -> spans R (plus (scale w (reals r)) v).
Variable RS : list (list Z).
Hypothesis LR : forall r, In r RS -> length r = n.
Lemma spans_len v : spans RS v -> length v = n.
Proof. induction 1 as [|r w v I W H IH]; auto. rewrite len_plus; rewrite len_scaleR; unfold reals; rewrite map_length, (LR r I); auto. Qed.
Lemma spans_plus a b : spans RS a -> spans RS b -> spans RS (plus a b).
Proof. induction 1 as [v L Z0|r w v I W H IH]; intros B. { rewrite plus_zero_l; auto. rewrite (spans_len b B). auto. } rewrite plus_assoc. constructor 2; auto. Qed.
Lemma spans_scale w a : 0 <= w -> spans RS a -> spans RS (scale w a).
Proof.
  intros W. induction 1 as [v L Z0|r u v I U H IH]. { constructor 1. now rewrite len_scaleR. now apply scale_zero. } rewrite scale_plus, scale_twice. constructor 2; auto. nra.
Qed.
Lemma spans_one r : In r RS -> spans RS (reals r).
Proof.
  intros I. assert (E : reals r = plus (scale 1 (reals r)) (repeat 0 n)).
  { pose proof (LR r I) as L. clear I. revert L. generalize n. unfold reals, scale. induction r; intros [|m] L; simpl in *; try discriminate; auto. rewrite <- IHr by lia. f_equal. lra. }
  rewrite E. constructor 2; auto. lra. constructor 1. apply repeat_length. apply Forall_forall. intros x J. apply repeat_spec in J. auto.
Qed.
(* A vector as the sum of the rays that it uses. *)
Lemma spans_sum v : spans RS v -> exists l : list (R * list Z), Forall (fun wr => 0 < fst wr /\ In (snd wr) RS) l /\ forall c, dot c v = total (fun wr => fst wr * dot c (reals (snd wr))) l.
Proof.
  induction 1 as [v L Z0|r w v I W H (l & A & B)]. { exists []. split; auto. intros c. simpl. now apply zero_all. }
  destruct W as [W|<-].
  - exists ((w, r) :: l). split. constructor; auto. intros c. rewrite dot_plus, dotR_scale, B. reflexivity. rewrite len_scaleR, (spans_len v H). unfold reals. rewrite map_length. auto.
  - exists l. split; auto. intros c. rewrite dot_plus, dotR_scale, B. lra. rewrite len_scaleR, (spans_len v H). unfold reals. rewrite map_length. auto.
Qed.
End Spans.

(* ---- one step of the double description method ---- *)
Lemma some_neg (v : list R) cs : Forall (fun c => dot c v <= 0) cs -> ~ Forall (fun c => dot c v = 0) cs -> Exists (fun c => dot c v < 0) cs.
Proof.
  induction 1 as [|c cs H F IH]; intros N. { destruct N. constructor. } destruct (Rlt_dec (dot c v) 0). { now left. } right. apply IH. intros K. apply N. constructor; auto. lra.
Qed.
Lemma reach : forall l : list (R * R), Forall (fun ab => fst ab <= 0 /\ snd ab <= 0 /\ (fst ab = 0 -> snd ab = 0)) l -> Exists (fun ab => snd ab < 0) l ->
  exists t, 0 < t /\ Forall (fun ab => fst ab - t * snd ab <= 0) l /\ Exists (fun ab => fst ab <> 0 /\ fst ab - t * snd ab = 0) l.
Proof.
  induction l as [|[a b] l IH]; intros H X. { inversion X. } inversion H as [|? ? (A & B & Z0) H']; subst. cbn [fst snd] in *.
  assert (Head : b < 0 -> (forall ab, In ab l -> fst ab - a / b * snd ab <= 0) -> exists t, 0 < t /\ Forall (fun ab => fst ab - t * snd ab <= 0) ((a, b) :: l) /\ Exists (fun ab => fst ab <> 0 /\ fst ab - t * snd ab = 0) ((a, b) :: l)).
  { intros b0 K. assert (a0 : a < 0). { destruct A as [A|A]; auto. specialize (Z0 A). lra. } exists (a / b). split. { replace (a / b) with (- a * / - b) by (field; lra). apply Rmult_lt_0_compat; [lra|]. apply Rinv_0_lt_compat. lra. }
    assert (E : a - a / b * b = 0) by (field; lra). split. { constructor; cbn [fst snd]; [lra|]. apply Forall_forall. auto. } left. cbn [fst snd]. split; auto. lra. }
  destruct (Exists_dec (fun ab : R * R => snd ab < 0) l (fun ab => Rlt_dec (snd ab) 0)) as [XT|NT].
  - destruct (IH H' XT) as (t & t0 & F & E). destruct (Rle_dec (a - t * b) 0) as [L|G].
    + exists t. split; [auto|split; [constructor; auto|now right]].
    + assert (b0 : b < 0) by nra. apply Head; auto. intros [a' b'] I. cbn [fst snd]. rewrite Forall_forall in F, H'. specialize (F _ I). specialize (H' _ I). cbn [fst snd] in *. destruct H' as (_ & B' & _).
      assert (T : a / b <= t). { apply (Rmult_le_reg_r (- b)); [lra|]. replace (a / b * - b) with (- a) by (field; lra). lra. } nra.
  - apply Head. { inversion X as [? ? X0|? ? X0]; subst; auto. contradiction. } intros [a' b'] I. cbn [fst snd]. rewrite Forall_forall in H'. specialize (H' _ I). cbn [fst snd] in H'. destruct H' as (A' & B' & _).
    destruct (Rlt_dec b' 0) as [L|L]. { destruct NT. apply Exists_exists. exists (a', b'). auto. } replace b' with 0 by lra. lra.
Qed.
Section Cells.
Variable n : nat.
Definition inside_cell cs v := length v = n /\ Forall (fun c => dot c v <= 0) cs.
Lemma leave cs v m : inside_cell cs v -> inside_cell cs m -> Forall (fun c => dot c v = 0 -> dot c m = 0) cs -> Exists (fun c => dot c m < 0) cs ->
  exists t w, 0 < t /\ v = plus w (scale t m) /\ inside_cell cs w /\ Forall (fun c => dot c v = 0 -> dot c w = 0) cs /\ Exists (fun c => dot c v <> 0 /\ dot c w = 0) cs.
Proof.
  intros [Lv Cv] [Lm Cm] Z0 X. destruct (reach (map (fun c => (dot c v, dot c m)) cs)) as (t & t0 & F & E).
  - apply Forall_map. rewrite Forall_forall in *. intros c I. cbn [fst snd]. auto.
  - apply Exists_exists. apply Exists_exists in X. destruct X as (c & I & K). exists (dot c v, dot c m). split; auto. apply in_map_iff. eauto.
  - assert (DW : forall c, dot c (plus v (scale (- t) m)) = dot c v - t * dot c m) by (intros c; rewrite dot_plus, dotR_scale by (rewrite len_scaleR; lia); lra).
    exists t, (plus v (scale (- t) m)). rewrite Forall_map in F. cbn [fst snd] in F. split; auto. split. { symmetry. apply plus_back. lia. } split; [split|split].
    + rewrite len_plus; rewrite ?len_scaleR; lia.
    + eapply Forall_impl; [|exact F]. cbn. intros c K. rewrite DW. auto.
    + eapply Forall_impl; [|exact Z0]. cbn. intros c K V. rewrite DW, V, K by auto. lra.
    + apply Exists_exists in E. destruct E as (ab & I & K). apply in_map_iff in I. destruct I as (c & <- & I). cbn [fst snd] in K. apply Exists_exists. exists c. rewrite DW. auto.
Qed.
Fixpoint slack (cs : list (list Z)) v : nat := match cs with [] => O | c :: cs => ((if Req_EM_T (dot c v) 0 then 0 else 1) + slack cs v)%nat end.
Lemma slack_le v w : forall cs, Forall (fun c => dot c v = 0 -> dot c w = 0) cs -> (slack cs w <= slack cs v)%nat.
Proof. induction 1 as [|c cs H F IH]; simpl; auto. destruct (Req_EM_T (dot c v) 0), (Req_EM_T (dot c w) 0); try lia. exfalso. auto. Qed.
Lemma slack_less v w : forall cs, Forall (fun c => dot c v = 0 -> dot c w = 0) cs -> Exists (fun c => dot c v <> 0 /\ dot c w = 0) cs -> (slack cs w < slack cs v)%nat.
Proof.
  induction 1 as [|c cs H F IH]; intros X; inversion X as [? ? [V W0]|? ? X']; subst; simpl.
  - destruct (Req_EM_T (dot c v) 0); [contradiction|]. destruct (Req_EM_T (dot c w) 0); [|contradiction]. pose proof (slack_le v w cs F). lia.
  - specialize (IH X'). destruct (Req_EM_T (dot c v) 0), (Req_EM_T (dot c w) 0); try lia. exfalso. auto.
Qed.
Definition sound_ray cs r := length (at_ r) = n /\ Forall (fun c => dot c (reals (at_ r)) <= 0) cs /\ marked cs (zero r) (reals (at_ r)) /\ ~ Forall (eq 0) (reals (at_ r)).
Definition pointed cs := forall v, length v = n -> Forall (fun c => dot c v = 0) cs -> Forall (eq 0) v.
Record sound_cell cs rs : Prop := Sound_cell { sP : pointed cs; sR : Forall (sound_ray cs) rs; sS : forall v, inside_cell cs v -> spans n (map at_ rs) v }.
Lemma neg_somewhere cs v : pointed cs -> inside_cell cs v -> ~ Forall (eq 0) v -> Exists (fun c => dot c v < 0) cs.
Proof. intros P [L C] N. apply some_neg; auto. Qed.
(* A cell is spanned if each of its vectors has a part that is: where the vector meets a limit, so does the part. *)
Lemma spanned_by_parts cs RS : pointed cs -> (forall r, In r RS -> length r = n) ->
  (forall v, inside_cell cs v -> ~ Forall (eq 0) v -> (forall w, inside_cell cs w -> (slack cs w < slack cs v)%nat -> spans n RS w) ->
    exists m, spans n RS m /\ inside_cell cs m /\ ~ Forall (eq 0) m /\ Forall (fun c => dot c v = 0 -> dot c m = 0) cs) ->
  forall v, inside_cell cs v -> spans n RS v.
Proof.
  intros P LR H. assert (K : forall k v, (slack cs v < k)%nat -> inside_cell cs v -> spans n RS v); [|intros v; apply (K (S (slack cs v))); lia].
  induction k as [|k IH]; intros v S C. { lia. } destruct (Forall_dec (eq 0) (fun y => Req_EM_T 0 y) v) as [Z0|NZ]. { constructor 1; auto. apply C. }
  destruct (H v C NZ) as (m & Sm & Cm & Nm & Zm). { intros w Cw Sw. apply IH; auto. lia. }
  destruct (leave cs v m C Cm Zm (neg_somewhere cs m P Cm Nm)) as (t & w & t0 & -> & Cw & Zw & Xw). apply spans_plus; auto. { apply IH; auto. pose proof (slack_less _ _ cs Zw Xw). lia. } apply spans_scale; auto. lra.
Qed.
Lemma total_sign {A} (f : A -> R) l : (0 < total f l -> exists a, In a l /\ 0 < f a) /\ (total f l < 0 -> exists a, In a l /\ f a < 0).
Proof.
  induction l as [|a l [I1 I2]]; simpl; split; intros H; try lra.
  - destruct (Rlt_dec 0 (f a)). { exists a. auto. } destruct I1 as (b & I & K); [lra|]. eauto.
  - destruct (Rlt_dec (f a) 0). { exists a. auto. } destruct I2 as (b & I & K); [lra|]. eauto.
Qed.
Lemma total_flat {A} (f : A -> R) l : (forall a, In a l -> f a <= 0) -> total f l = 0 -> forall a, In a l -> f a = 0.
Proof.
  induction l as [|a l IH]; simpl; intros N Z0 b I. { destruct I. } assert (L : total f l <= 0). { clear - N. induction l as [|c l IH]; simpl; [lra|]. assert (total f l <= 0) by (apply IH; intros; apply N; simpl in *; tauto). specialize (N c). simpl in N. specialize (N ltac:(auto)). lra. }
  pose proof (N a ltac:(auto)). destruct I as [<-|I]. lra. apply IH; auto. lra.
Qed.
Definition faces (v : list R) cs (r : list Z) := Forall (fun c => dot c v = 0 -> dot c (reals r) = 0) cs.
(* The rays that a vector of a cell uses. *)
Lemma used cs rs v : sound_cell cs rs -> inside_cell cs v -> exists l : list (R * ray), Forall (fun wr => 0 < fst wr /\ In (snd wr) rs /\ sound_ray cs (snd wr) /\ faces v cs (at_ (snd wr))) l /\
  forall c, dot c v = total (fun wr => fst wr * dot c (reals (at_ (snd wr)))) l.
Proof.
  intros [P SR SS] C. destruct (spans_sum n (map at_ rs)) with (v := v) as (l & A & B); auto.
  { intros r I. apply in_map_iff in I. destruct I as (s & <- & I). rewrite Forall_forall in SR. apply (SR s I). }
  assert (X : exists l' : list (R * ray), Forall (fun wr => 0 < fst wr /\ In (snd wr) rs) l' /\ l = map (fun wr => (fst wr, at_ (snd wr))) l').
  { clear B. induction A as [|[w r] l [W I] A (l' & A' & E')]. { exists []. auto. } cbn [fst snd] in *. apply in_map_iff in I. destruct I as (s & <- & I). exists ((w, s) :: l'). split. constructor; auto. simpl. now f_equal. }
  destruct X as (l' & A' & ->). exists l'. assert (B' : forall c, dot c v = total (fun wr => fst wr * dot c (reals (at_ (snd wr)))) l').
  { intros c. rewrite B. clear. induction l'; simpl; auto. now rewrite IHl'. } split; auto. rewrite Forall_forall in *. intros wr I. destruct (A' wr I) as [W J]. pose proof (SR _ J) as SRJ. repeat split; auto; try apply SRJ.
  apply Forall_forall. intros c IC Z0. rewrite B' in Z0. assert (N : forall wr, In wr l' -> fst wr * dot c (reals (at_ (snd wr))) <= 0).
  { intros wr' I'. destruct (A' wr' I') as [W' J']. destruct (SR _ J') as (_ & Q & _). rewrite Forall_forall in Q. specialize (Q c IC). nra. }
  pose proof (total_flat _ l' N Z0 wr I) as K. cbn beta in K. nra.
Qed.
Lemma total_other {A} (f : A -> R) l a : In a l -> total f l = 0 -> f a < 0 -> exists b, In b l /\ 0 < f b.
Proof.
  intros I Z0 N. destruct (Exists_dec (fun b => 0 < f b) l (fun b => Rlt_dec 0 (f b))) as [X|X]. { apply Exists_exists in X. auto. }
  assert (f a = 0); [|lra]. apply (total_flat f l); auto. intros b J. destruct (Rle_dec (f b) 0); auto. destruct X. apply Exists_exists. exists b. split; auto. lra.
Qed.
Lemma zdot_two s t : forall c a b, length a = length b -> (zdot c (zplus (zscale s a) (zscale t b)) = s * zdot c a + t * zdot c b)%Z.
Proof. unfold zscale. induction c as [|d c IH]; intros [|x a] [|y b] L; simpl in *; try discriminate; try lia. rewrite IH by lia. lia. Qed.
Definition part_of cs RS v := exists m, spans n RS m /\ inside_cell cs m /\ ~ Forall (eq 0) m /\ Forall (fun c => dot c v = 0 -> dot c m = 0) cs.
Lemma third cs c RS v p q s a b e : pointed cs -> sound_ray cs p -> sound_ray cs q -> sound_ray cs s -> faces v cs (at_ p) -> faces v cs (at_ q) ->
  0 < a -> 0 < b -> 0 < e -> a * dot c (reals (at_ q)) + b * dot c (reals (at_ p)) = 0 -> e * dot c (reals (at_ q)) + b * dot c (reals (at_ s)) = 0 ->
  Z.land (zero s) (Z.land (zero p) (zero q)) = Z.land (zero p) (zero q) -> zero s <> Z.land (zero p) (zero q) -> Z.land (zero s) (zero p) <> zero p ->
  (forall w, inside_cell (c :: cs) w -> (slack (c :: cs) w < slack (c :: cs) v)%nat -> spans n RS w) -> part_of (c :: cs) RS v.
Proof.
  intros P (Lp & Cp & Mp & Np) (Lq & Cq & Mq & Nq) (Ls & Cs & Ms & Ns) Fp Fq a0 b0 e0 E1 E2 S1 S2 S3 IH. pose proof (marked_sub _ _ _ cs _ _ _ Mp Mq Ms S1) as SB.
  set (rp := reals (at_ p)) in *. set (rq := reals (at_ q)) in *. set (rs := reals (at_ s)) in *. assert (LP : length rp = n /\ length rq = n /\ length rs = n) by (unfold rp, rq, rs, reals; rewrite !map_length; auto). destruct LP as (LP & LQ & LS).
  set (x := plus (scale a rq) (scale b rp)). set (y := plus (scale e rq) (scale b rs)).
  assert (DX : forall c, dot c x = a * dot c rq + b * dot c rp) by (intros c'; unfold x; rewrite dot_plus, !dotR_scale by (rewrite !len_scaleR; lia); lra).
  assert (DY : forall c, dot c y = e * dot c rq + b * dot c rs) by (intros c'; unfold y; rewrite dot_plus, !dotR_scale by (rewrite !len_scaleR; lia); lra).
  rewrite Forall_forall in Cp, Cq, Cs, SB. unfold faces in Fp, Fq. fold rp in Fp. fold rq in Fq. rewrite Forall_forall in Fp, Fq.
  assert (Cx : inside_cell (c :: cs) x). { split. unfold x. rewrite len_plus; rewrite !len_scaleR; lia. constructor. rewrite DX. lra. apply Forall_forall. intros c' I. rewrite DX. specialize (Cp c' I). specialize (Cq c' I). nra. }
  assert (Cy : inside_cell (c :: cs) y). { split. unfold y. rewrite len_plus; rewrite !len_scaleR; lia. constructor. rewrite DY. lra. apply Forall_forall. intros c' I. rewrite DY. specialize (Cs c' I). specialize (Cq c' I). nra. }
  assert (Zxy : Forall (fun c' => dot c' x = 0 -> dot c' y = 0) (c :: cs)).
  { constructor. { intros _. rewrite DY. lra. } apply Forall_forall. intros c' I. rewrite DX, DY. specialize (Cp c' I). specialize (Cq c' I). intros K. assert (dot c' rq = 0) by nra. assert (dot c' rp = 0) by nra. rewrite (SB c' I) by auto. rewrite H. lra. }
  assert (Xy : Exists (fun c' => dot c' y < 0) (c :: cs)).
  { right. pose proof (neg_somewhere cs rs P (conj LS (proj2 (Forall_forall _ _) Cs)) Ns) as X. apply Exists_exists in X. destruct X as (c' & I & K). apply Exists_exists. exists c'. split; auto. rewrite DY. specialize (Cq c' I). nra. }
  destruct (leave (c :: cs) x y Cx Cy Zxy Xy) as (t & w & t0 & EX & Cw & Zw & Xw). assert (Lw : length w = length (scale t y)) by (rewrite len_scaleR; destruct Cw as [-> _]; destruct Cy as [-> _]; auto).
  assert (Zv : Forall (fun c' => dot c' v = 0 -> dot c' v = 0 /\ (In c' cs -> dot c' x = 0)) (c :: cs)). { apply Forall_forall. intros c' _ K. split; auto. intros I. rewrite DX, (Fp c' I K), (Fq c' I K). lra. }
  assert (Zvw : Forall (fun c' => dot c' v = 0 -> dot c' w = 0) (c :: cs)).
  { inversion Zw as [|? ? Z1 Z2]; subst. inversion Zv as [|? ? V1 V2]; subst. constructor. { intros _. apply Z1. rewrite DX. lra. } rewrite Forall_forall in *. intros c' I K. apply Z2; auto. apply V2; auto. }
  assert (Xvw : Exists (fun c' => dot c' v <> 0 /\ dot c' w = 0) (c :: cs)).
  { apply Exists_exists in Xw. destruct Xw as (c' & I & K1 & K2). apply Exists_exists. exists c'. split; auto. split; auto. intros K. apply K1. destruct I as [<-|I]. rewrite DX. lra. rewrite DX, (Fp c' I K), (Fq c' I K). lra. }
  destruct (Forall_dec (eq 0) (fun z => Req_EM_T 0 z) w) as [Z0|NZ].
  - exfalso. assert (EQ : forall c', a * dot c' rq + b * dot c' rp = t * (e * dot c' rq + b * dot c' rs)). { intros c'. rewrite <- DX, <- DY, EX, dot_plus, dotR_scale, (zero_all w Z0) by auto. lra. }
    assert (tb : 0 < t * b) by nra. destruct (Rle_dec a (t * e)) as [L|G].
    + apply S3. apply (marked_all rp rs cs); auto. apply Forall_forall. intros c' I K. specialize (EQ c'). specialize (Cq c' I). specialize (Cs c' I). rewrite K in EQ. assert (0 <= (a - t * e) * dot c' rq) by nra. nra.
    + apply S2. apply (marked_equal rp rq rs cs); auto. apply Forall_forall. intros c' I. specialize (EQ c'). specialize (Cq c' I). specialize (Cs c' I). specialize (Cp c' I). split; [|intros [K1 K2]; auto].
      intros K. rewrite K in EQ. assert (EQ' : (a - t * e) * dot c' rq + b * dot c' rp = 0) by lra. split; nra.
  - exists w. split; [|auto]. apply IH; auto. apply slack_less; auto.
Qed.
Lemma primitive_ok v : length (primitive v) = length v /\ exists g, 0 < g /\ forall c, g * dot c (reals (primitive v)) = dot c (reals v).
Proof.
  unfold primitive. cbv zeta. destruct (Z.ltb_spec 0 (fold_right Z.gcd 0%Z v)) as [G|G]; simpl. 2: { split; auto. exists 1. split; [lra|]. intros. lra. }
  set (g := fold_right Z.gcd 0%Z v) in *. destruct (same (zscale g (map (fun n => (n / g)%Z) v)) v) eqn:S. 2: { split; auto. exists 1. split; [lra|]. intros. lra. }
  apply same_eq in S. split. now rewrite map_length. exists (IZR g). split. { now apply IZR_lt in G. } intros c. rewrite !dot_reals. rewrite <- S at 2. rewrite <- mult_IZR. f_equal.
  generalize (map (fun n => (n / g)%Z) v). clear. revert c. induction c as [|a c IH]; intros [|b l]; simpl; try lia. rewrite Z.mul_add_distr_l, IH. unfold zscale. lia.
Qed.
Lemma met_ok cs c p q : length c = n -> sound_ray cs p -> sound_ray cs q -> (0 < zdot c (at_ p))%Z -> (zdot c (at_ q) < 0)%Z -> let m := met (zdot c (at_ p)) p (zdot c (at_ q)) q in
  length (at_ m) = n /\ zero m = (2 * Z.land (zero p) (zero q) + 1)%Z /\ exists g a b, 0 < g /\ 0 < a /\ 0 < b /\ a * dot c (reals (at_ q)) + b * dot c (reals (at_ p)) = 0 /\
  forall c, g * dot c (reals (at_ m)) = a * dot c (reals (at_ q)) + b * dot c (reals (at_ p)).
Proof.
  intros Lc (Lp & _) (Lq & _) Hp Hq. cbv zeta. unfold met. set (s := zdot c (at_ p)) in *. set (t := zdot c (at_ q)) in *. set (g := Z.gcd s t).
  assert (K : exists s' t', (let (s, t) := if (0 <? g) && (g * (s / g) =? s) && (g * (t / g) =? t) then (s / g, t / g) else (s, t) in Ray (primitive (zplus (zscale s (at_ q)) (zscale (- t) (at_ p)))) (2 * Z.land (zero p) (zero q) + 1))%Z =
    Ray (primitive (zplus (zscale s' (at_ q)) (zscale (- t') (at_ p)))) (2 * Z.land (zero p) (zero q) + 1) /\ (0 < s' /\ t' < 0 /\ s' * t = t' * s)%Z).
  { destruct ((0 <? g) && (g * (s / g) =? s) && (g * (t / g) =? t))%Z%bool eqn:C. 2: { exists s, t. split; auto. lia. } split_and C. apply Z.ltb_lt in C. apply Z.eqb_eq in C0, C1.
    exists (s / g)%Z, (t / g)%Z. split; auto. set (s1 := (s / g)%Z) in *. set (t1 := (t / g)%Z) in *. rewrite <- C1 in Hp. rewrite <- C0 in Hq. rewrite <- C0, <- C1 at 1. repeat split; nia. }
  destruct K as (s' & t' & -> & S & T & ST). cbn [at_ zero]. destruct (primitive_ok (zplus (zscale s' (at_ q)) (zscale (- t') (at_ p)))) as (LM & g' & G & E). assert (LL : length (zscale s' (at_ q)) = length (zscale (- t') (at_ p))) by (rewrite !len_scale; lia).
  split. { rewrite LM, len_zplus by auto. rewrite len_scale. auto. } split; auto. exists g', (IZR s'), (- IZR t'). apply IZR_lt in S, T. repeat split; auto; try lra.
  - rewrite !dot_reals. fold s t. rewrite <- mult_IZR, ST, mult_IZR. lra.
  - intros c'. rewrite E. rewrite !dot_reals, zdot_two by lia. rewrite plus_IZR, !mult_IZR, opp_IZR. lra.
Qed.
Lemma cut_ok cs c rs : length c = n -> sound_cell cs rs -> sound_cell (c :: cs) (cut_by c rs).
Proof.
  intros Lc SC. pose proof SC as [P SR SS]. rewrite Forall_forall in SR.
  assert (IN : forall r, In r (cut_by c rs) <-> (exists o, In o rs /\ (zdot c (at_ o) <= 0)%Z /\ r = Ray (at_ o) (2 * zero o + (if zdot c (at_ o) =? 0 then 1 else 0))%Z) \/
    (exists p q, In p rs /\ In q rs /\ (0 < zdot c (at_ p))%Z /\ (zdot c (at_ q) < 0)%Z /\ joined rs p q = true /\ r = met (zdot c (at_ p)) p (zdot c (at_ q)) q)).
  { intros r. unfold cut_by. cbv zeta. rewrite in_app_iff, in_map_iff, in_flat_map. split.
    - intros [(vo & <- & I)|([w p] & I & J)].
      + left. apply filter_In in I. destruct I as [I L]. apply in_map_iff in I. destruct I as (o & <- & I). cbn [fst snd] in *. apply Z.leb_le in L. eauto.
      + right. apply filter_In in I. destruct I as [I L]. apply in_map_iff in I. destruct I as (o & E & I). injection E as <- <-. cbn [fst snd] in *. apply Z.ltb_lt in L. apply in_flat_map in J. destruct J as ([w q] & J & K).
        apply filter_In in J. destruct J as [J M]. apply in_map_iff in J. destruct J as (o' & E & J). injection E as <- <-. cbn [fst snd] in *. apply Z.ltb_lt in M. destruct (joined rs o o') eqn:JO; [|destruct K]. destruct K as [<-|[]]. exists o, o'. auto 10.
    - intros [(o & I & L & ->)|(p & q & I & J & L & M & JO & ->)].
      + left. exists (zdot c (at_ o), o). split; auto. apply filter_In. split. { apply in_map_iff. eauto. } now apply Z.leb_le.
      + right. exists (zdot c (at_ p), p). split. { apply filter_In. split. { apply in_map_iff. eauto. } now apply Z.ltb_lt. } apply in_flat_map. exists (zdot c (at_ q), q). split. { apply filter_In. split. { apply in_map_iff. eauto. } now apply Z.ltb_lt. }
        cbn [fst snd]. rewrite JO. now left. }
  assert (SR' : Forall (sound_ray (c :: cs)) (cut_by c rs)).
  { apply Forall_forall. intros r I. apply IN in I. destruct I as [(o & I & L & ->)|(p & q & I & J & L & M & _ & ->)].
    - destruct (SR o I) as (A1 & A2 & A3 & A4). unfold sound_ray. cbn [at_ zero]. split; auto. split. { constructor; auto. rewrite dot_reals. now apply IZR_le in L. } split; auto.
      exists (zero o), (zdot c (at_ o) =? 0)%Z. split. { destruct (zdot c (at_ o) =? 0)%Z; reflexivity. } split; auto. rewrite dot_reals, Z.eqb_eq. split; intros K. now rewrite K. now apply eq_IZR.
    - pose proof (SR p I) as Sp. pose proof (SR q J) as Sq. destruct (met_ok cs c p q Lc Sp Sq L M) as (LM & ZM & g & a & b & g0 & a0 & b0 & E0 & E). set (m := met _ p _ q) in *. destruct Sp as (_ & Cp & Mp & Np). destruct Sq as (_ & Cq & Mq & Nq).
      assert (Dc : dot c (reals (at_ m)) = 0) by (specialize (E c); nra). rewrite Forall_forall in Cp, Cq. split; auto. split. { constructor; [lra|]. apply Forall_forall. intros c' I'. specialize (E c'). specialize (Cp c' I'). specialize (Cq c' I'). nra. }
      split.
      + exists (Z.land (zero p) (zero q)), true. split; auto. split. { split; auto. } assert (K : forall l mp mq, incl l cs -> marked l mp (reals (at_ p)) -> marked l mq (reals (at_ q)) -> marked l (Z.land mp mq) (reals (at_ m))); [|apply K; auto; apply incl_refl].
        induction l as [|d l IH]; intros mp mq IL. { simpl. intros -> ->. reflexivity. } intros (x1 & x2 & -> & X & Y) (y1 & y2 & -> & X' & Y'). exists (Z.land x1 y1), (x2 && y2)%bool. split. { apply land_bit. }
        split; [|apply IH; auto; intros z Hz; apply IL; now right]. specialize (E d). specialize (Cp d (IL d (or_introl eq_refl))). specialize (Cq d (IL d (or_introl eq_refl))). rewrite andb_true_iff, X, X'. split. { intros [K1 K2]. rewrite K1, K2 in E. nra. } intros K. rewrite K in E. split; nra.
      + intros Z0. assert (X : Exists (fun c => dot c (reals (at_ p)) < 0) cs). { apply neg_somewhere; auto. split; [|now apply Forall_forall]. unfold reals. rewrite map_length. apply (SR p I). } apply Exists_exists in X. destruct X as (d & I' & K). specialize (E d). rewrite (zero_all _ Z0) in E. specialize (Cq d I'). nra. }
  assert (LR' : forall r, In r (map at_ (cut_by c rs)) -> length r = n). { intros r I. apply in_map_iff in I. destruct I as (o & <- & I). rewrite Forall_forall in SR'. apply (SR' o I). }
  assert (P' : pointed (c :: cs)). { intros v Lv Fv. inversion Fv; subst. apply P; auto. } split; auto. apply (spanned_by_parts (c :: cs)); auto. clear P'.
  intros v Cv NZ IH. change (part_of (c :: cs) (map at_ (cut_by c rs)) v). destruct Cv as [Lv Cv]. inversion Cv as [|? ? Vc Vcs]; subst. assert (CV : inside_cell cs v) by (split; auto).
  (* A ray that stays is a part. *)
  assert (Stay : forall o, In o rs -> dot c (reals (at_ o)) <= 0 -> faces v cs (at_ o) -> (dot c v = 0 -> dot c (reals (at_ o)) = 0) -> part_of (c :: cs) (map at_ (cut_by c rs)) v).
  { intros o I K F K'. exists (reals (at_ o)). destruct (SR o I) as (A1 & A2 & A3 & A4). split. { apply spans_one; auto. apply in_map_iff. exists (Ray (at_ o) (2 * zero o + (if zdot c (at_ o) =? 0 then 1 else 0))%Z). split; auto. apply IN. left. exists o. rewrite dot_reals in K. split; auto. split; auto. now apply le_IZR. }
    split. { split. unfold reals. now rewrite map_length. constructor; auto. } split; [auto|constructor; auto]. }
  destruct (used cs rs v SC CV) as (l & A & B). rewrite Forall_forall in A. destruct (Rlt_dec (dot c v) 0) as [Neg|NN].
  - pose proof Neg as N'. rewrite B in N'. apply (total_sign _ l) in N'. destruct N' as (wo & I & K). destruct (A wo I) as (W & J & _ & F). apply (Stay (snd wo)); auto. nra. intros; lra.
  - assert (V0 : dot c v = 0) by lra. pose proof (neg_somewhere cs v P CV NZ) as X. apply Exists_exists in X. destruct X as (d & Id & Kd). rewrite B in Kd. apply (total_sign _ l) in Kd. destruct Kd as (wo & I & _). destruct (A wo I) as (W & J & So & F).
    assert (PQ : dot c (reals (at_ (snd wo))) = 0 \/ exists wp wq, In wp l /\ In wq l /\ 0 < dot c (reals (at_ (snd wp))) /\ dot c (reals (at_ (snd wq))) < 0).
    { destruct (Rtotal_order (dot c (reals (at_ (snd wo)))) 0) as [L|[Z0|G]]; auto; right.
      - assert (T : exists wp, In wp l /\ 0 < fst wp * dot c (reals (at_ (snd wp)))).
        { apply (total_other _ l wo); auto. rewrite <- B. auto. nra. } destruct T as (wp & Ip & Kp). exists wp, wo. destruct (A wp Ip) as (Wp & _). repeat split; auto. nra.
      - assert (T : exists wq, In wq l /\ fst wq * dot c (reals (at_ (snd wq))) < 0).
        { assert (Z1 : total (fun wr : R * ray => - (fst wr * dot c (reals (at_ (snd wr))))) l = 0). { transitivity (- dot c v); [|lra]. rewrite B. clear. induction l; simpl; lra. }
          assert (N1 : - (fst wo * dot c (reals (at_ (snd wo)))) < 0) by nra. destruct (total_other _ l wo I Z1 N1) as (wq & Iq & Kq). exists wq. split; auto. lra. } destruct T as (wq & Iq & Kq). exists wo, wq. destruct (A wq Iq) as (Wq & _). repeat split; auto. nra. }
    destruct PQ as [Z0|(wp & wq & Ip & Iq & Gp & Gq)]. { apply (Stay (snd wo)); auto. lra. }
    destruct (A wp Ip) as (_ & Jp & Sp & Fp). destruct (A wq Iq) as (_ & Jq & Sq & Fq). set (p := snd wp) in *. set (q := snd wq) in *. clear - n IN SR SR' LR' P Lc Lv NZ IH Stay V0 Jp Jq Sp Sq Fp Fq Gp Gq.
    assert (ZP : (0 < zdot c (at_ p))%Z). { apply lt_IZR. rewrite <- dot_reals. auto. } assert (ZQ : (zdot c (at_ q) < 0)%Z). { apply lt_IZR. rewrite <- dot_reals. auto. }
    destruct (joined rs p q) eqn:JO.
    + set (m := met (zdot c (at_ p)) p (zdot c (at_ q)) q). assert (IM : In m (cut_by c rs)) by (apply IN; right; exists p, q; auto 10). rewrite Forall_forall in SR'. destruct (SR' m IM) as (A1 & A2 & A3 & A4).
      exists (reals (at_ m)). split. { apply spans_one; auto. apply in_map_iff. eauto. } split. { split; auto. unfold reals. now rewrite map_length. } split; auto.
      destruct (met_ok cs c p q Lc Sp Sq ZP ZQ) as (_ & _ & g & a & b & g0 & a0 & b0 & E0 & E). fold m in E. constructor. { intros _. specialize (E c). nra. } unfold faces in Fp, Fq. rewrite Forall_forall in *. intros d I K. specialize (E d). rewrite (Fp d I K), (Fq d I K) in E. nra.
    + unfold joined in JO. cbv zeta in JO. apply negb_false_iff, existsb_exists in JO. destruct JO as (s & Is & J). split_and J. apply Z.eqb_eq in J. apply negb_true_iff, Z.eqb_neq in J0, J1, J2. pose proof (SR s Is) as Ss.
      assert (Fs : faces v cs (at_ s)). { destruct Sp as (_ & _ & Mp & _). destruct Sq as (_ & _ & Mq & _). destruct Ss as (_ & _ & Ms & _). pose proof (marked_sub _ _ _ cs _ _ _ Mp Mq Ms J) as SB. unfold faces in *. rewrite Forall_forall in *. intros d I K. apply SB; auto. }
      destruct (Rtotal_order (dot c (reals (at_ s))) 0) as [L|[Z0|G]].
      * apply (third cs c _ v q p s (- dot c (reals (at_ q))) (dot c (reals (at_ p))) (- dot c (reals (at_ s)))); auto; try lra. all: rewrite (Z.land_comm (zero q)); auto.
      * apply (Stay s); auto. lra.
      * apply (third cs c _ v p q s (dot c (reals (at_ p))) (- dot c (reals (at_ q))) (dot c (reals (at_ s)))); auto; lra.
Qed.
End Cells.

(* ---- convex functions of columns add up ---- *)
Lemma log_share y u c : 0 <= y -> 0 < u -> 0 < c -> y * ln c + y - u * c <= y * ln (y / u).
Proof.
  intros [Y|<-] U C; [|nra]. assert (R : 0 < c * (u / y)) by (apply Rmult_lt_0_compat; auto; now apply Rdiv_lt_0_compat).
  pose proof (ln_le_sub _ R) as K. rewrite ln_mult in K by (auto; now apply Rdiv_lt_0_compat). unfold Rdiv in K at 1. rewrite ln_mult, ln_Rinv in K by (auto using Rinv_0_lt_compat). unfold Rdiv. rewrite ln_mult, ln_Rinv by (auto using Rinv_0_lt_compat).
  apply (Rmult_le_compat_l y) in K; [|lra]. replace (y * (c * (u / y) - 1)) with (u * c - y) in K by (field; lra). lra.
Qed.
Lemma relative_add u v : 0 < u -> 0 < v -> forall G a b, Forall (Z.le 0) G -> Forall (Rle 0) a -> Forall (Rle 0) b -> length a = length b -> relative G (u + v) (plus a b) <= relative G u a + relative G v b.
Proof.
  intros U V. induction G as [|g G IH]; destruct a as [|y a], b as [|z b]; simpl; intros HG HA HB L; try discriminate; try lra. inversion HG as [|? ? g0 HG']; inversion HA as [|? ? Y HA']; inversion HB as [|? ? Z0 HB']; subst. apply IZR_le in g0.
  specialize (IH a b HG' HA' HB' ltac:(lia)). assert (K : (y + z) * ln ((y + z) / (u + v)) <= y * ln (y / u) + z * ln (z / v)).
  { destruct (Rle_lt_dec (y + z) 0) as [N|P]. { assert (y = 0) by lra. assert (z = 0) by lra. subst. rewrite Rplus_0_r, !Rmult_0_l. lra. }
    assert (C : 0 < (y + z) / (u + v)) by (apply Rdiv_lt_0_compat; lra). pose proof (log_share y u _ Y U C) as K1. pose proof (log_share z v _ Z0 V C) as K2.
    replace (u * ((y + z) / (u + v))) with ((y + z) - v * ((y + z) / (u + v))) in K1 by (field; lra). lra. }
  apply (Rmult_le_compat_l (IZR g)) in K; auto. lra.
Qed.
Lemma squares_add u v : 0 < u -> 0 < v -> forall G a b, Forall (Z.le 0) G -> length a = length b -> squares G (plus a b) / (u + v) <= squares G a / u + squares G b / v.
Proof.
  intros U V G a b HG L. assert (D : forall x y z, x / (u + v) <= y / u + z / v <-> x * (u * v) <= (y * v + z * u) * (u + v)).
  { intros x y z. assert (P : 0 < u * v * (u + v)) by (repeat apply Rmult_lt_0_compat; lra). split; intros H.
    - apply (Rmult_le_compat_r (u * v * (u + v))) in H; [|lra]. replace (x / (u + v) * (u * v * (u + v))) with (x * (u * v)) in H by (field; lra). replace ((y / u + z / v) * (u * v * (u + v))) with ((y * v + z * u) * (u + v)) in H by (field; lra). auto.
    - apply (Rmult_le_reg_r (u * v * (u + v))); auto. replace (x / (u + v) * (u * v * (u + v))) with (x * (u * v)) by (field; lra). replace ((y / u + z / v) * (u * v * (u + v))) with ((y * v + z * u) * (u + v)) by (field; lra). auto. }
  apply D. revert a b HG L. induction G as [|g G IH]; intros [|y a] [|z b] HG L; simpl in *; try discriminate; try nra. inversion HG as [|? ? g0 HG']; subst. apply IZR_le in g0. specialize (IH a b HG' ltac:(lia)).
  pose proof (Rle_0_sqr (y * v - z * u)) as Q. unfold Rsqr in Q. apply (Rmult_le_compat_l (IZR g)) in Q; auto. nra.
Qed.
Section Mu.
Variable u : convex.
Hypothesis FM : formed (alone u).
Notation W := (prior u).
Notation T := (zsum W).
Definition mu q := measure u [q].
Definition fit q := length q = length W /\ Forall (Rle 0) q.
Lemma mu_best dn gs q : aim u = Bayes dn gs -> mu q = best (map (fun g => dot (products W g) q) gs) / (IZR T * IZR dn).
Proof. intros E. unfold mu, measure, worth. simpl. rewrite E. simpl. f_equal. lra. Qed.
Lemma mu_earned q : kind_of (alone u) <> Plain -> mu q = earned (alone u) q / IZR T.
Proof. intros K. unfold mu, measure. fold (alone u). rewrite worth_earned by auto. simpl. f_equal. lra. Qed.
Lemma mu_kinds : (exists dn gs, aim u = Bayes dn gs) \/ kind_of (alone u) <> Plain.
Proof. pose proof (fO _ FM) as O. unfold kind_of. simpl in *. destruct (aim u); eauto; try (right; discriminate). destruct O as (_ & O & _). congruence. Qed.
Lemma mu_zero q : fit q -> Forall (eq 0) q -> mu q = 0.
Proof.
  intros [L N] Z0. destruct mu_kinds as [(dn & gs & E)|K].
  - rewrite (mu_best dn gs q E). replace (best (map (fun g => dot (products W g) q) gs)) with 0. { unfold Rdiv. lra. } rewrite (map_ext _ (fun _ => 0)) by (intros g; now apply zero_all). clear. induction gs as [|g gs IH]; auto. destruct gs as [|h gs]; auto. change (0 = Rmax 0 (best (map (fun _ => 0) (h :: gs)))). rewrite <- IH. unfold Rmax. destruct (Rle_dec 0 0); auto.
  - rewrite mu_earned by auto. assert (E0 : earned (alone u) q = 0). { apply (earned_zero (alone u) (0, 0)%Z); auto. rewrite (zero_all q Z0). lra. } rewrite E0. unfold Rdiv. lra.
Qed.
Lemma best_scale c l : 0 <= c -> best (map (Rmult c) l) = c * best l.
Proof. intros C. induction l as [|a [|b l] IH]; simpl in *; try lra. rewrite IH. rewrite RmaxRmult; auto. Qed.
Lemma mu_scale c q : 0 <= c -> fit q -> mu (scale c q) = c * mu q.
Proof.
  intros [C|<-] F. 2: { rewrite mu_zero. lra. split. rewrite len_scaleR. apply F. apply scale_pos; [lra|apply F]. unfold scale. apply Forall_map, Forall_forall. intros; lra. }
  destruct mu_kinds as [(dn & gs & E)|K].
  - rewrite !(mu_best dn gs _ E). rewrite (map_ext (fun g => dot (products W g) (scale c q)) (fun g => c * dot (products W g) q)) by (intros g; apply dotR_scale).
    rewrite <- (map_map (fun g => dot (products W g) q) (Rmult c)), best_scale by lra. unfold Rdiv. ring.
  - rewrite !mu_earned, earned_scale by auto. unfold Rdiv. ring.
Qed.
Lemma mu_plus a b : fit a -> fit b -> mu (plus a b) <= mu a + mu b.
Proof.
  intros [La Na] [Lb Nb]. pose proof (fT _ FM) as HT. pose proof (fW _ FM) as HW. pose proof (fO _ FM) as O. simpl in HT, HW, O. apply IZR_lt in HT. assert (LL : length a = length b) by lia.
  destruct mu_kinds as [(dn & gs & E)|K].
  - rewrite !(mu_best dn gs _ E). rewrite E in O. destruct O as (DN & GN & _). apply IZR_lt in DN. unfold Rdiv. rewrite <- Rmult_plus_distr_r. apply Rmult_le_compat_r. { apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; auto. }
    apply best_le. { destruct gs; [congruence|discriminate]. } intros x I. apply in_map_iff in I. destruct I as (g & <- & I). rewrite dot_plus by auto. apply Rplus_le_compat; apply best_ge, in_map_iff; eauto.
  - rewrite !mu_earned by auto. unfold Rdiv. rewrite <- Rmult_plus_distr_r. apply Rmult_le_compat_r. { apply Rlt_le, Rinv_0_lt_compat; auto. }
    unfold earned. unfold kind_of, groups_of in *. cbn [objective weights alone] in *. destruct (aim u) as [| |gs|]; try congruence.
    + destruct O as [O _]. unfold information. clear K. induction O as [|G gs [LG PG] O IH]; simpl; [lra|]. assert (R : relative G (dot G (plus a b) / IZR (zsum G)) (plus a b) <= relative G (dot G a / IZR (zsum G)) a + relative G (dot G b / IZR (zsum G)) b); [|lra].
      destruct (Rle_dec (dot G a) 0) as [A0|A0]. { destruct (plus_nothing G a b PG Na LL A0) as (R1 & _ & R2). destruct (zero_dot G a PG Na A0) as (R3 & _). rewrite R1, R2, R3. lra. }
      assert (S0 : 0 < IZR (zsum G)). { apply IZR_lt. pose proof (zsum_nonneg G PG). destruct (Z.eq_dec (zsum G) 0) as [Z0|]; [|lia]. rewrite (zero_sum G a PG Z0) in A0. lra. }
      destruct (Rle_dec (dot G b) 0) as [B0|B0].
      { assert (CM : plus a b = plus b a) by (clear; revert b; induction a; destruct b; simpl; auto; rewrite IHa; f_equal; lra). rewrite CM. destruct (plus_nothing G b a PG Nb ltac:(lia) B0) as (R1 & _ & R2). destruct (zero_dot G b PG Nb B0) as (R3 & _). rewrite R1, R2, R3. lra. }
      rewrite dot_plus by auto. replace ((dot G a + dot G b) / IZR (zsum G)) with (dot G a / IZR (zsum G) + dot G b / IZR (zsum G)) by (unfold Rdiv; ring). apply relative_add; auto; apply Rdiv_lt_0_compat; lra.
    + unfold chi_square. simpl. destruct (Rle_dec (dot W a) 0) as [A0|A0]. { destruct (plus_nothing W a b HW Na LL A0) as (_ & R1 & R2). destruct (zero_dot W a HW Na A0) as (_ & _ & R3 & R4). rewrite R1, R2, R3, R4. unfold Rdiv. lra. }
      destruct (Rle_dec (dot W b) 0) as [B0|B0].
      { assert (CM : plus a b = plus b a) by (clear; revert b; induction a; destruct b; simpl; auto; rewrite IHa; f_equal; lra). rewrite CM. destruct (plus_nothing W b a HW Nb ltac:(lia) B0) as (_ & R1 & R2). destruct (zero_dot W b HW Nb B0) as (_ & _ & R3 & R4). rewrite R1, R2, R3, R4. unfold Rdiv. lra. }
      rewrite dot_plus by auto. pose proof (squares_add (dot W a / IZR T) (dot W b / IZR T) ltac:(apply Rdiv_lt_0_compat; lra) ltac:(apply Rdiv_lt_0_compat; lra) W a b HW LL) as Q.
      replace ((dot W a + dot W b) / IZR T) with (dot W a / IZR T + dot W b / IZR T) by (unfold Rdiv; ring). lra.
Qed.
(* Prices that pay for each ray pay for what the rays span. *)
Lemma spans_pay E own RS v : 0 <= E -> Forall (fun r => fit (reals r) /\ E * mu (reals r) <= dot own (reals r)) RS -> spans (length W) RS v -> fit v /\ E * mu v <= dot own v.
Proof.
  intros HE F. rewrite Forall_forall in F. induction 1 as [v L Z0|r w v I W0 S [[L N] IH]].
  - assert (FV : fit v). { split; auto. eapply Forall_impl; [|exact Z0]. simpl. intros; lra. } split; auto. rewrite mu_zero, zero_all by auto. lra.
  - destruct (F r I) as [[Lr Nr] K]. assert (FS : fit (scale w (reals r))). { split. now rewrite len_scaleR. now apply scale_pos. } assert (LL : length (scale w (reals r)) = length v) by (rewrite len_scaleR; lia).
    split. { split. rewrite len_plus; auto. rewrite len_scaleR. auto. apply plus_pos; auto. apply FS. } rewrite dot_plus, dotR_scale by auto.
    pose proof (mu_plus (scale w (reals r)) v FS (conj L N)) as M. rewrite (mu_scale w _ W0 (conj Lr Nr)) in M. apply (Rmult_le_compat_l E) in M; auto. apply (Rmult_le_compat_l w) in K; auto. lra.
Qed.
Lemma ray_holds_ok E own r : (0 < E)%Z -> length (at_ r) = length W -> ray_holds u E own r = true -> fit (reals (at_ r)) /\ IZR E * mu (reals (at_ r)) <= dot own (reals (at_ r)).
Proof.
  unfold ray_holds. intros HE L H. apply andb_prop in H. destruct H as [N H]. apply nonneg_all in N. destruct (above u (at_ r)) as [s|] eqn:A; [|discriminate]. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
  destruct (above_ok u 1 (at_ r) s ltac:(lia) FM N A) as [S0 K]. assert (ER : real 1 (at_ r) = reals (at_ r)) by (unfold real, reals; apply map_ext; intros; lra). rewrite ER in K. fold (mu (reals (at_ r))) in K. apply IZR_lt in S0, HE.
  split. { split. unfold reals. now rewrite map_length. unfold reals. apply Forall_map. eapply Forall_impl; [|exact N]. simpl. intros a I. now apply IZR_le. }
  rewrite dot_reals. apply (Rmult_le_reg_l (IZR (scale_of u 1))); auto. apply (Rmult_le_compat_l (IZR E * IZR (scale_of u 1))) in K; [|nra]. replace (IZR E * IZR (scale_of u 1) * (IZR s / IZR (scale_of u 1))) with (IZR E * IZR s) in K by (field; lra). lra.
Qed.
End Mu.

(* ---- the unit vectors ---- *)
Lemma iota_in {A} (f : Z -> A) : forall m i a, In a (iota i m f) -> exists y, (i <= y < i + Z.of_nat m)%Z /\ a = f y.
Proof. induction m as [|m IH]; simpl; intros i a H; [destruct H|]. destruct H as [<-|H]. { exists i. split; auto. lia. } destruct (IH _ _ H) as (y & I & E). exists y. split; auto. lia. Qed.
Lemma marked_mark v : forall cs, marked cs (mark cs v) (reals v).
Proof.
  induction cs as [|c cs IH]; simpl; auto. exists (mark cs v), (zdot c v =? 0)%Z. split. { destruct (zdot c v =? 0)%Z; reflexivity. } split; auto. rewrite dot_reals, Z.eqb_eq. split; intros K. now rewrite K. now apply eq_IZR.
Qed.
Lemma entry_unit {A} : forall (W : list A) x z, (0 <= x < Z.of_nat (length W))%Z -> (0 <= z)%Z -> entry z (reals (unit_at 1 x (zeros W))) = if (z =? x)%Z then 1 else 0.
Proof.
  unfold unit_at, entry, reals, zeros. induction W as [|w W IH]; simpl length; intros x z Hx Hz. { lia. } cbn [map updz]. destruct (Z.eqb_spec x 0) as [->|N].
  - destruct (Z.eqb_spec z 0) as [->|M]; [simpl; lra|]. replace (Z.to_nat z) with (S (Z.to_nat (z - 1))) by lia. cbn [map nth]. assert (K : forall i, nth i (map IZR (map (fun _ : A => 0%Z) W)) 0 = 0). { clear. induction W; destruct i; simpl; auto. } apply K.
  - destruct (Z.eqb_spec z 0) as [->|M]. { destruct (Z.eqb_spec 0 x); [lia|]. reflexivity. } replace (Z.to_nat z) with (S (Z.to_nat (z - 1))) by lia. cbn [map nth]. rewrite IH by lia. destruct (Z.eqb_spec (z - 1) (x - 1)), (Z.eqb_spec z x); auto; lia.
Qed.
Lemma dot_side n x (W : list Z) v : length v = length W -> (0 <= x)%Z -> dot (unit_at n x (zeros W)) v = IZR n * entry x v.
Proof. intros L X. rewrite dot_unit, dot_zeros by (rewrite ?len_zeros; auto). lra. Qed.
Lemma in_sides W c : In c (sides W) -> exists x, (0 <= x < Z.of_nat (length W))%Z /\ c = unit_at (-1) x (zeros W).
Proof. intros I. apply iota_in in I. destruct I as (x & H & E). exists x. rewrite zlen_len in H. split; auto. lia. Qed.
Lemma sides_in W x : (0 <= x < Z.of_nat (length W))%Z -> In (unit_at (-1) x (zeros W)) (sides W).
Proof. intros H. apply (in_iota (fun x => unit_at (-1) x (zeros W))). rewrite zlen_len. lia. Qed.
Lemma unit_len {A} n x (W : list A) : length (unit_at n x (zeros W)) = length W.
Proof. unfold unit_at. now rewrite len_updz, len_zeros. Qed.
Lemma orthant_ok W : sound_cell (length W) (sides W) (orthant W).
Proof.
  assert (P : pointed (length W) (sides W)).
  { intros v L F. apply all_nth. intros j Hj. rewrite Forall_forall in F. specialize (F _ (sides_in W (Z.of_nat j) ltac:(lia))). rewrite dot_side in F by (auto; lia). unfold entry in F. rewrite Nat2Z.id in F. lra. }
  assert (IN : forall r, In r (orthant W) <-> exists x, (0 <= x < Z.of_nat (length W))%Z /\ r = Ray (unit_at 1 x (zeros W)) (mark (sides W) (unit_at 1 x (zeros W)))).
  { intros r. split.
    - intros I. apply iota_in in I. destruct I as (x & H & E). exists x. rewrite zlen_len in H. split; auto. lia.
    - intros (x & H & ->). apply (in_iota (fun x => Ray (unit_at 1 x (zeros W)) (mark (sides W) (unit_at 1 x (zeros W))))). rewrite zlen_len. lia. }
  assert (SR : Forall (sound_ray (length W) (sides W)) (orthant W)).
  { apply Forall_forall. intros r I. apply IN in I. destruct I as (x & H & ->). unfold sound_ray. cbn [at_ zero]. split. { apply unit_len. } split.
    - apply Forall_forall. intros c I. apply in_sides in I. destruct I as (z & Hz & ->). rewrite dot_side; [|unfold reals; now rewrite map_length, unit_len|lia]. rewrite entry_unit by lia. destruct (z =? x)%Z; lra.
    - split. { apply marked_mark. } intros Z0. assert (K : entry x (reals (unit_at 1 x (zeros W))) = 0). { unfold entry. destruct (nth_in_or_default (Z.to_nat x) (reals (unit_at 1 x (zeros W))) 0) as [I| ->]; auto. rewrite Forall_forall in Z0. symmetry. auto. }
      rewrite entry_unit, Z.eqb_refl in K by lia. lra. }
  split; auto. rewrite Forall_forall in SR. assert (LR : forall r, In r (map at_ (orthant W)) -> length r = length W). { intros r I. apply in_map_iff in I. destruct I as (o & <- & I). apply (SR o I). }
  apply (spanned_by_parts _ (sides W)); auto. intros v CV NZ _. pose proof (neg_somewhere _ _ v P CV NZ) as X. apply Exists_exists in X. destruct X as (c & I & K). apply in_sides in I. destruct I as (x & Hx & ->). destruct CV as [Lv Cv]. rewrite dot_side in K by (auto; lia).
  assert (Io : In (Ray (unit_at 1 x (zeros W)) (mark (sides W) (unit_at 1 x (zeros W)))) (orthant W)) by (apply IN; eauto). destruct (SR _ Io) as (A1 & A2 & _ & A4). cbn [at_] in *. exists (reals (unit_at 1 x (zeros W))). split. { apply spans_one; auto. apply in_map_iff. eexists. split; [|exact Io]. reflexivity. }
  split. { split; auto. unfold reals. now rewrite map_length. } split; auto. apply Forall_forall. intros c I Z0. apply in_sides in I. destruct I as (z & Hz & ->). rewrite dot_side in Z0 by (auto; lia). rewrite dot_side; [|unfold reals; now rewrite map_length|lia].
  rewrite entry_unit by lia. destruct (Z.eqb_spec z x) as [->|]; lra.
Qed.

(* ---- the states ---- *)
Section Whole.
Variables (pb : problem) (E : Z) (cl : Z * Z) (es : table).
Notation W := (weights pb).
Notation k := (zlen W).
Notation u := (alike_convex pb).
Notation inside := (inside_cell (length W)).
Notation sound := (sound_cell (length W)).
Hypothesis FM : formed pb.
Hypothesis FA : formed (alone u).
Hypothesis HE : (0 < E)%Z.
Hypothesis HM : (0 < snd cl)%Z.
Variable Q : list (list R).
Hypothesis HQ : mechanism pb Q.
Hypothesis ES : forall q, column pb q -> edges_hold es q.
Notation en := (Renv pb E cl es).
(* What is shown: that the worth is at most the claim, or what a claim of a design says. *)
Variable reached_r : Prop.
Definition good_r st := match st with
  | Everywhere rs => forall cs, sound cs rs -> Forall (inside cs) Q -> reached_r
  | Each cells => forall css, Forall2 sound css cells -> Forall2 inside css Q -> reached_r
  | Lonely own rs => length own = length W -> forall cs q, sound cs rs -> column pb q -> inside cs q -> IZR E * mu u q <= dot own q end.
Lemma known_ok tok c : known_limit en tok = Some c -> length c = length W /\ forall q, column pb q -> dot c q <= 0.
Proof.
  destruct tok as [e|i| | |]; cbn [known_limit redges rproblem]; intros H; try discriminate.
  - destruct (edge_at es e) as [[[[x z] g] h]|] eqn:EA; [|discriminate]. apply Some_inj in H. subst c. assert (L : length (unit_at (- g) z (unit_at h x (zeros W))) = length W) by (unfold unit_at; rewrite !len_updz; apply len_zeros). split; auto.
    intros q Cq. destruct (ES q Cq e x z g h EA) as (X & Z1 & _ & _ & K). destruct Cq as (Lq & _). rewrite dot_unit by (auto; rewrite unit_len; auto). rewrite dot_side by auto. rewrite opp_IZR. lra.
  - apply nthz_in in H. pose proof (fH pb FM) as FH. rewrite Forall_forall in FH. split; auto. intros q (_ & _ & _ & K). rewrite Forall_forall in K. auto.
Qed.
Lemma add_side cs c v : inside cs v -> dot c v <= 0 -> inside (c :: cs) v.
Proof. intros [L F] H. split; auto. Qed.
Lemma worth_total Q' : worth pb Q' = total (mu u) Q'.
Proof.
  change (measure u Q' = total (mu u) Q'). induction Q' as [|q Q' IH]. 2: { rewrite measure_app by auto. simpl. rewrite IH. reflexivity. }
  simpl. unfold measure, worth. simpl. pose proof (fO _ FA) as O. simpl in O. destruct (objective pb); [destruct O as (_ & O & _); congruence| | |]; simpl; unfold Rdiv; lra.
Qed.
Lemma cells_pay A t : length A = length W -> forall l cells css y, Forall2 sound css cells -> Forall2 inside css l -> Forall (column pb) l -> Forall good_r (lonely_states k y A t cells) ->
  IZR E * total (mu u) l <= total (dot A) l + mdot k y t l.
Proof.
  intros LA. induction l as [|q l IH]; intros cells css y HS HI HC G; inversion HI as [|cs ? css' ? I1 I2]; subst; inversion HS as [|? rs ? cells' S1 S2]; subst; cbn [total mdot]. { lra. }
  inversion HC as [|? ? C1 C2]; subst. cbn [lonely_states] in G. inversion G as [|? ? G1 G2]; subst. specialize (IH _ _ (y + 1)%Z S2 I2 C2 G2). cbn [good_r] in G1. specialize (G1 ltac:(rewrite len_merge; auto) cs q S1 C1 I1). rewrite dot_merge in G1 by (destruct C1 as (L & _); lia). lra.
Qed.
Lemma merge_nothing A : forall i, merge i Tip A = A.
Proof. induction A as [|a A IH]; simpl; intros i; auto. rewrite IH. unfold amount. rewrite find_tip. f_equal. lia. Qed.
Hypothesis REACH : worth pb Q <= IZR (fst cl) / IZR (snd cl) -> reached_r.
Lemma paid_reached A t b L : length A = length W -> add_rows k 1 (rows pb) L Tip 0 = Some (t, b) -> pays cl E (zsum A + b) = true -> IZR E * total (mu u) Q <= total (dot A) Q + mdot k 0 t Q -> reached_r.
Proof.
  intros LA R0 PA K. apply REACH. pose proof HQ as (HQ1 & _ & _ & HR). destruct cl as [N M] eqn:CL. cbn [fst snd] in *. apply pays_ok in PA; auto. eapply Rle_trans; [|exact PA]. rewrite worth_total. apply IZR_lt in HE. apply le_ratio; auto. eapply Rle_trans; [exact K|].
  rewrite (sum_prices pb Q A HQ LA), plus_IZR. assert (LQ : Forall (fun q => Z.of_nat (length q) = k) Q). { eapply Forall_impl; [|exact HQ1]. intros q (Lq & _). rewrite zlen_len. lia. }
  pose proof (add_rows_ok k 1 _ Q LQ ltac:(lia) _ _ _ _ _ _ (fR pb FM) HR R0) as I1. rewrite mdot_tip in I1. lra.
Qed.
Lemma each_ok st cells : each_cell en st = Some cells -> good_r (Each cells) -> good_r st.
Proof.
  destruct st as [rs|cells'|own rs]; cbn [each_cell rproblem]; intros H; try discriminate.
  - destruct (outputs pb) as [m|] eqn:OM; [|discriminate]. apply Some_inj in H. subst cells. intros G cs S F. apply (G (map (fun _ => cs) Q)).
    + pose proof HQ as (_ & _ & HM' & _). rewrite OM in HM'. unfold numbers. replace (Z.to_nat m) with (length Q) by lia. generalize 0%Z. clear - S. induction Q as [|q l IH]; intros i; cbn [map length iota]; constructor; auto.
    + clear - F. induction F; simpl; constructor; auto.
  - apply Some_inj in H. now subst cells'.
Qed.
Lemma pay_ok A L cells l : paid en A L cells = Some l -> Forall good_r l -> good_r (Each cells).
Proof.
  unfold paid. cbv zeta. cbn [rproblem rclaim runit]. intros H G css S F. destruct (add_rows k 1 (rows pb) L Tip 0) as [[t b]|] eqn:R0; [|discriminate]. match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end.
  apply Some_inj in H. subst l. apply andb_prop in C. destruct C as [LA PA]. apply alike_len in LA. apply (paid_reached A t b L LA R0 PA). eapply cells_pay; eauto. apply HQ.
Qed.
Lemma pay_one A L rs l : outputs pb = None -> paid en A L [rs] = Some l -> Forall good_r l -> good_r (Everywhere rs).
Proof.
  unfold paid. cbv zeta. cbn [rproblem rclaim runit]. intros OM H G cs S F. pose proof (fM pb FM) as RW. rewrite OM in RW. destruct (add_rows k 1 (rows pb) L Tip 0) as [[t b]|] eqn:R0; [|discriminate]. match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end.
  apply Some_inj in H. subst l. apply andb_prop in C. destruct C as [LA PA]. apply alike_len in LA. apply (paid_reached A t b L LA R0 PA). rewrite RW in R0. destruct L; [|discriminate]. apply Some_inj in R0. injection R0 as <- <-.
  rewrite mdot_tip. cbn [lonely_states] in G. rewrite merge_nothing in G. apply Forall_inv in G. cbn [good_r] in G. pose proof HQ as (HC & _). clear - F G HC LA S HE. apply IZR_lt in HE. rewrite Rplus_0_r. induction F as [|q Q' I F IH]; simpl; [lra|].
  inversion HC as [|? ? C1 C2]; subst. specialize (IH C2). specialize (G LA cs q S C1 I). lra.
Qed.
Lemma halves c rs y cells css : length c = length W -> nthz y cells = Some rs -> Forall2 sound css cells -> Forall2 inside css Q -> good_r (Each (updz y (fun _ => cut_by c rs) cells)) -> good_r (Each (updz y (fun _ => cut_by (zscale (-1) c) rs) cells)) -> reached_r.
Proof.
  intros Lc NY S F G1 G2. assert (S' : Forall2 (fun r s => sound s r) cells css) by (clear - S; induction S; constructor; auto). destruct (Forall2_nthz _ _ _ S' _ _ NY) as (c0 & NC & SC). destruct (Forall2_nthz _ _ _ F _ _ NC) as (q & NQ & IQ).
  assert (K : forall c, length c = length W -> dot c q <= 0 -> good_r (Each (updz y (fun _ => cut_by c rs) cells)) -> reached_r).
  { intros c' Lc' D G. apply (G (updz y (fun _ => c' :: c0) css)).
    - clear - S NY NC SC Lc'. revert y NY NC. induction S as [|a b l l' H S IH]; intros y NY NC; [discriminate|]. cbn [nthz updz] in *. destruct (y =? 0)%Z; constructor; auto. apply Some_inj in NY, NC. subst. apply cut_ok; auto.
    - clear - F NC NQ IQ D. revert y NC NQ. induction F as [|a b l l' H F IH]; intros y NC NQ; [discriminate|]. cbn [nthz updz] in *. destruct (y =? 0)%Z; constructor; auto. apply Some_inj in NQ. subst. apply add_side; auto. }
  destruct (Rle_dec (dot c q) 0) as [D|D]. { eapply K; eauto. } apply (K (zscale (-1) c)); auto. now rewrite len_scale. rewrite dot_scale. lra.
Qed.
Definition cuts tok := match tok with Pay _ _ | Holds => False | _ => True end.
Lemma cuts_ok_r tok st l : cuts tok -> rstep en tok st = Some l -> Forall good_r l -> good_r st.
Proof.
  intros CU H GL. assert (Two : forall x y, Some [x; y] = Some l -> good_r x /\ good_r y). { intros x y K. apply Some_inj in K. subst l. inversion GL as [|? ? G1 G2]; inversion G2; auto. }
  assert (One : forall x, Some [x] = Some l -> good_r x). { intros x K. apply Some_inj in K. subst l. now apply Forall_inv in GL. }
  assert (Kn : forall c, known_limit en tok = Some c -> match st with Everywhere rs => Some [Everywhere (cut_by c rs)] | Lonely own rs => Some [Lonely own (cut_by c rs)] | _ => None end = Some l -> good_r st).
  { intros c KL H'. destruct (known_ok _ _ KL) as [Lc Kc]. destruct st as [rs|cells|own rs]; [| |]; try discriminate; apply One in H'; cbn [good_r] in *.
    - intros cs S F. apply (H' (c :: cs)). { now apply cut_ok. } pose proof HQ as (HC & _). rewrite Forall_forall in *. intros q I. apply add_side; auto.
    - intros Lo cs q S C I. apply (H' Lo (c :: cs) q); auto. now apply cut_ok. apply add_side; auto. }
  destruct tok as [e|i|y c|A L|]; cbn [rstep rproblem runit] in H.
  - destruct (known_limit en (Along e)) as [c|] eqn:KL; [|discriminate]. eapply Kn; eauto. - destruct (known_limit en (Beside i)) as [c|] eqn:KL; [|discriminate]. eapply Kn; eauto.
  - cbv zeta in H. destruct (alike c W) eqn:AL; [|discriminate]. cbn [negb] in H. apply alike_len in AL.
    assert (Ea : match each_cell en st with None => None | Some cells => match nthz y cells with None => None | Some rs => Some [Each (updz y (fun _ => cut_by c rs) cells); Each (updz y (fun _ => cut_by (zscale (-1) c) rs) cells)] end end = Some l -> good_r st).
    { intros K. destruct (each_cell en st) as [cells|] eqn:EC; [|discriminate]. destruct (nthz y cells) as [rs|] eqn:NY; [|discriminate]. apply Two in K. destruct K as [G1 G2]. apply (each_ok st cells EC). intros css S F. eapply halves; eauto. }
    destruct st as [rs|cells|own rs]; [apply Ea; exact H|apply Ea; exact H|]. destruct (y =? 0)%Z; [|discriminate]. apply Two in H. destruct H as [G1 G2]. cbn [good_r] in *. intros Lo cs q S C I.
    destruct (Rle_dec (dot c q) 0) as [D|D]. { apply (G1 Lo (c :: cs) q); auto. now apply cut_ok. now apply add_side. } apply (G2 Lo (zscale (-1) c :: cs) q); auto. { apply cut_ok; auto. now rewrite len_scale. } apply add_side; auto. rewrite dot_scale. lra.
  - destruct CU. - destruct CU.
Qed.
Lemma rstep_ok tok st l : rstep en tok st = Some l -> Forall good_r l -> good_r st.
Proof.
  intros H GL. destruct tok as [e|i|y c|A L|]; try (eapply cuts_ok_r; eauto; exact I); cbn [rstep rproblem runit] in H.
  - destruct (each_cell en st) as [cells|] eqn:EC. { apply (each_ok st cells EC). eapply pay_ok; eauto. } destruct st as [rs|cells|own rs]; try discriminate. eapply pay_one; eauto. cbn [each_cell rproblem] in EC. destruct (outputs pb); [discriminate|auto].
  - destruct st as [rs|cells|own rs]; try discriminate. destruct (forallb _ rs) eqn:C; [|discriminate]. cbn [good_r]. intros Lo cs q S _ I. assert (HE' := HE). apply IZR_lt in HE'. destruct S as [_ SR SS].
    apply (spans_pay u FA (IZR E) own (map at_ rs) q); [lra| |apply SS; auto]. rewrite Forall_map. rewrite forallb_forall in C. rewrite Forall_forall in *. intros r Ir. apply ray_holds_ok; auto. apply (SR r Ir).
Qed.
Lemma ray_run_ok : forall toks stack, ray_run en toks stack = true -> Forall good_r stack.
Proof.
  induction toks as [|tok toks IH]; intros [|st stack] K; simpl in K; try discriminate; auto. destruct (rstep en tok st) as [l|] eqn:SP; [|discriminate]. apply IH in K. apply Forall_app in K. destruct K. constructor; auto. eapply rstep_ok; eauto.
Qed.
End Whole.
Theorem rayed_sound pb N M E ratios toks : rayed pb (N, M) E ratios toks = true -> forall Q, mechanism pb Q -> worth pb Q <= IZR N / IZR M.
Proof.
  unfold rayed, ray_start. cbv zeta. intros H Q HQ. destruct (edges_of _ (base pb) ratios) as [es|] eqn:ES; [|discriminate].
  match type of H with match (if ?x then _ else _) with _ => _ end = _ => destruct x eqn:C; [|discriminate] end. split_and C. apply well_formed_ok in C, C2. apply Z.ltb_lt in C0, C1.
  assert (EH : forall q, column pb q -> edges_hold es q). { intros q (L & N0 & I & _). rewrite zlen_len, <- L in ES. rewrite <- L in I. eapply edges_of_ok; eauto. }
  apply (ray_run_ok pb E (N, M) es C C2 C1 C0 Q HQ EH (worth pb Q <= IZR N / IZR M) (fun w => w)) in H. apply Forall_inv in H. apply (H _ (orthant_ok (weights pb))). pose proof HQ as (HC & _). eapply Forall_impl; [|exact HC]. intros q (L & N0 & _). split; auto. apply Forall_forall. intros c I.
  apply in_sides in I. destruct I as (x & Hx & ->). rewrite dot_side by (auto; lia). pose proof (entry_nonneg q x N0). lra.
Qed.
Theorem rays_sound mo N M hs touches points E ratios toks : rays_proved mo (N, M) hs touches points E ratios toks = true -> forall Q, obeys mo Q -> nets_at_most mo Q (IZR N / IZR M).
Proof.
  unfold rays_proved. intros H Q K. destruct (reduce mo (N, M) hs) as [[co [N' M']]|] eqn:EQ; [|discriminate]. destruct (reduce_ok _ _ _ _ _ _ _ _ EQ K) as (Q' & A & B). apply B.
  destruct (straight co touches) as [en|] eqn:ST; [|discriminate]. destruct (straight_ok _ _ _ _ ST A) as (Q2 & A2 & B2). destruct (relax en (N', M') points) as [[pb [N2 M2]]|] eqn:RX; [|discriminate].
  destruct (relax_ok _ _ _ _ _ _ RX Q2 A2) as [A3 B3]. eapply Rle_trans; [exact B2|]. apply B3. eapply rayed_sound; eauto.
Qed.
