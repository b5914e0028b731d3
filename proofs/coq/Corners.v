(* Matrices whose columns are tied by rows, on a complete cone. Each column is 0, or a multiple of one whose least entry is 1: its limits
   are those of that one. A state of the whole matrix becomes, at prices, one state for each column; there a convex function is largest where
   an entry is at one of its limits. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant Parts Rows.
Import ListNotations.
Open Scope Z_scope.

(* ---- the check ---- *)
(* acts: of each column the actions of which one is best there; numbers: sets, pairs (x, c) with v_x >= c / D, and N: at most N columns are of the
   set (true), or at least N + 1. *)
Record whole := Whole { boxes : list (list ent); acts : list (list Z); counts : list (list (Z * Z) * Z * bool) }.
(* Of a column one of whose entries is 1: limits v_x < c / D, what each set adds to the price of its columns, and what it is added to. *)
Record rim := Rim { below : list (Z * Z); extras : list (list (Z * Z) * Z); each_ : list Z }.
Record single := Single { price : list Z; box : list ent; near : option rim }.
Inductive mstate := Matrix (w : whole) | One (p : single) | Tree (st : state).
Inductive mtoken := Tok (t : token) | Act (y a : Z) | Number (s : list (Z * Z)) (n : Z) | Price (A L ns ways : list Z).
(* menv: of a column; cenv: of a tree over corners; gains: of bayes, over mden. A price of 1 for a column counts mscale; mbase: numbers on
   cells that are there without prices; top: the limits of a column at first, one: an upper end of phi(1) D^2; measures: of each output
   weights that sum to common there; munit: what prices are over. *)
Record mat := Mat { menv : env; cenv : env; gains : option (list (list Z)); mden : Z; mscale : Z; mbase : trie Z; top : ent; one : Z;
  measures : list (list Z); common : Z; munit : Z }.

Definition cap c p e := match high e with Some (h, _) => if h <=? c then e else Ent (low e) (plow e) (Some (c, p)) | None => Ent (low e) (plow e) (Some (c, p)) end.
Definition lift_ c p e := if c <=? low e then e else Ent c p (high e).
Fixpoint ones_left (b : list ent) : Z := match b with [] => 0 | e :: b => (if low e <=? D then 1 else 0) + ones_left b end.
(* One entry is 1: where only one may be, it is. *)
Definition tight p1 (b : list ent) := if ones_left b =? 1 then map (fun e => if low e <=? D then cap D p1 e else e) b else b.
Definition crossed e := match high e with Some (h, _) => h <? low e | None => false end.
Definition shut (b : list ent) := (ones_left b =? 0) || existsb crossed b.
Definition same_ent a b := (low a =? low b) && (plow a =? plow b) && match high a, high b with
  | Some (h, p), Some (i, q) => (h =? i) && (p =? q) | None, None => true | _, _ => false end.
Fixpoint same_box (a b : list ent) : bool := match a, b with [], [] => true | x :: a, y :: b => same_ent x y && same_box a b | _, _ => false end.

(* What the sets add to the price: all of it where each column of the limits is of the set, nothing where none is. *)
Definition inside (b : list ent) (s : list (Z * Z)) := forallb (fun xc => match nthz (fst xc) b with Some e => snd xc <=? low e | None => false end) s.
Definition outside (l s : list (Z * Z)) := existsb (fun xc => existsb (fun yc => (fst xc =? fst yc) && (snd yc <=? snd xc)) l) s.
Definition settled (p : single) : list Z := match near p with None => price p
  | Some r => fold_right (fun sn q => if inside (box p) (fst sn) then zplus q (zscale (snd sn) (each_ r)) else if outside (below r) (fst sn) then q
      else zplus q (zscale (Z.min 0 (snd sn)) (each_ r))) (price p) (extras r) end.
(* E T S - w s <= 0, for S = W.v^2, w = W.v and s = (E W + price).v: (w - w_j) (s - s_j) >= 0 at lower or at upper ends of both. *)
Definition square_leaf (E T : Z) (W q : list Z) (b : list ent) (upper : bool) : bool := let O := zeros W in let S := zplus (zscale E W) q in
  let edge q := if upper then endsum O q b else match endsum O (zscale (-1) q) b with Some r => Some (- r) | None => None end in
  match edge W, edge S with
  | Some w, Some s => match endsum (zscale (E * T) W) (zscale (- D) (zplus (zscale w S) (zscale s W))) b with Some r => w * s * D + r <=? 0 | None => false end
  | _, _ => false end.
Definition single_leaf (en : env) (p : single) ts m : bool := (match near p with Some _ => ones_left (box p) =? 0 | None => false end) || let q := settled p in match knd en with
  | Square => let ends := square_leaf (unit_ en) (total_ en) (wts en) q (box p) in match ts, m with [], Mult [] [] [] => ends true || ends false | _, _ => false end
  | _ => leaf en q (Col (box p) []) ts m end.

(* What a column has to show: its price (for each action), and its limits. *)
Fixpoint prices_of (g : option (list (list Z))) (E den : Z) (W own acts : list Z) : option (list (list Z)) := match g with None => Some [own]
  | Some gs => match acts with [] => Some [] | a :: acts => match nthz a gs, prices_of g E den W own acts with
      | Some g, Some l => Some (zplus (zscale den own) (zscale (- E) (products W g)) :: l) | _, _ => None end end end.
Record duty := Duty { down : list Z; where_ : list ent; whose : list Z; even : list Z }.
Fixpoint sums_of (R : Z) (ns : list Z) (cs : list (list (Z * Z) * Z * bool)) : option Z := match ns, cs with [], [] => Some 0
  | n :: ns, (_, N, le) :: cs => match sums_of R ns cs with None => None | Some r => if (if le then 0 <=? n else n <=? 0) then Some (r + n * (R * (if le then N else N + 1))) else None end
  | _, _ => None end.
Fixpoint extras_of (c : Z) (ns : list Z) (cs : list (list (Z * Z) * Z * bool)) : list (list (Z * Z) * Z) := match ns, cs with
  | n :: ns, (s, _, _) :: cs => (s, c * n) :: extras_of c ns cs | _, _ => [] end.
Fixpoint duties (mt : mat) (y : Z) (A : list Z) (t : trie Z) (bs : list (list ent)) (acts : list (list Z)) : list duty := match bs, acts with
  | b :: bs, a :: acts => let k := zlen A in
      Duty (zscale (total_ (menv mt)) (merge (y * k) t (zscale (mscale mt) A))) (tight (one mt) b) a (match nthz y (measures mt) with Some c => c | None => [] end) :: duties mt (y + 1) A t bs acts
  | _, _ => [] end.
Definition same_duty a b := same (down a) (down b) && same_box (where_ a) (where_ b) && same (whose a) (whose b) && same (even a) (even b).
(* way: the output itself, an earlier one with the same duty, or -1 for a tree over the corners of the whole cone. *)
Definition whole_tree (mt : mat) (ex : list (list (Z * Z) * Z)) (u : duty) : option (list mstate) := let W := wts (menv mt) in match gains mt, ex, corner (cenv mt) with
  | None, [], Some (G, p) => if same_box (where_ u) (map (fun _ => top mt) W) then Some [Tree (State (down u) [Col (where_ u) [(zsum W * D, zsum W * G); (zlen W * D, zlen W * G)]])] else None
  | _, _, _ => None end.
Definition child (mt : mat) (ex : list (list (Z * Z) * Z)) (us : list duty) (ways : list Z) (y way : Z) : option (list mstate) := match nthz y us with None => None | Some u =>
  if shut (where_ u) then Some [] else if way =? y then
    match prices_of (gains mt) (unit_ (menv mt)) (mden mt) (wts (menv mt)) (down u) (whose u) with None => None
    | Some qs => Some (map (fun q => One (Single q (where_ u) (Some (Rim [] (map (fun sn => (fst sn, mden mt * snd sn)) ex) (even u))))) qs) end
  else if way =? -1 then whole_tree mt ex u
  else match nthz way us, nthz way ways with Some v, Some w => if same_duty u v && ((w =? way) || (w =? -1)) then Some [] else None | _, _ => None end end.
Fixpoint children (mt : mat) (ex : list (list (Z * Z) * Z)) (us : list duty) (ways : list Z) (y : Z) (l : list Z) : option (list mstate) := match l with [] => Some []
  | way :: l => match child mt ex us ways y way, children mt ex us ways (y + 1) l with Some a, Some b => Some (a ++ b) | _, _ => None end end.
Definition priced (mt : mat) (w : whole) (A L ns ways : list Z) : option (list mstate) := let en := menv mt in
  match add_rows (zlen (wts en)) (mscale mt) (couplings en) L (mbase mt) 0, sums_of (common mt) ns (counts w) with
  | Some (t, b), Some c => if alike A (wts en) && alike ways (boxes w) && match ns, measures mt with _ :: _, [] => false | _, _ => true end && pays (claim en) (munit mt) (zsum A + b + c)
      then children mt (extras_of (total_ en * mscale mt) ns (counts w)) (duties mt 0 A t (boxes w) (acts w)) ways 0 ways else None
  | _, _ => None end.
Definition mstep (mt : mat) (tok : mtoken) (st : mstate) : option (list mstate) := let kd := knd (menv mt) in match st, tok with
  | Matrix w, Tok (Split y x c) => match nthz y (boxes w), phi_up kd c with
      | Some b, Some p => match nthz x b with Some _ =>
          let now f := Matrix (Whole (updz y (updz x f) (boxes w)) (acts w) (counts w)) in Some [now (cap c p); now (lift_ c p)] | None => None end
      | _, _ => None end
  | Matrix w, Act y a => match nthz y (acts w) with
      | Some l => let now f := Matrix (Whole (boxes w) (updz y f (acts w)) (counts w)) in Some [now (fun _ => [a]); now (filter (fun b => negb (b =? a)))] | None => None end
  | Matrix w, Number s n => let now le := Matrix (Whole (boxes w) (acts w) ((s, n, le) :: counts w)) in Some [now true; now false]
  | Matrix w, Price A L ns ways => priced mt w A L ns ways
  | One p, Tok (Split y x c) => match near p, nthz x (box p), phi_up kd c with
      | Some r, Some _, Some q => if y =? 0 then Some [One (Single (price p) (updz x (cap c q) (box p)) (Some (Rim ((x, c) :: below r) (extras r) (each_ r))));
          One (Single (price p) (updz x (lift_ c q) (box p)) (near p))] else None
      | _, _, _ => None end
  | One p, Tok (Fix x) => match nthz x (box p) with
      | Some e => match high e with
          | Some (h, q) => if D <=? low e then let now e := One (Single (settled p) (updz x (fun _ => e) (box p)) None) in
              Some [now (Ent h q (Some (h, q))); now (Ent (low e) (plow e) (Some (low e, plow e)))] else None
          | None => None end
      | None => None end
  | One p, Tok (Leaf ts m) => if single_leaf (menv mt) p ts m then Some [] else None
  | Tree st, Tok t => match step (cenv mt) t st with Some l => Some (map Tree l) | None => None end
  | _, _ => None end.
Definition mat_advance (mt : mat) (tok : mtoken) (stack : list mstate) : option (list mstate) := match stack with
  | st :: stack => match mstep mt tok st with Some l => Some (l ++ stack) | None => None end | [] => None end.
Fixpoint mat_run (mt : mat) (toks : list mtoken) (stack : list mstate) : bool := match toks with
  | [] => match stack with [] => true | _ => false end
  | tok :: toks => match mat_advance mt tok stack with Some stack => mat_run mt toks stack | None => false end end.

(* ---- how a proof begins ---- *)
(* The rows and cone with the convex function whose columns are priced; its factor a / b, and linear costs besides. *)
Definition aimed mo (cl : Z * Z) hs : option (problem * (Z * Z) * (Z * terms) * (Z * Z)) := match parts mo with
  | [] => match reduce mo cl hs with None => None | Some (co, cl) => match loss co, bonus (inner co) with
      | None, [] => Some (plain (inner co), (1, 1), (1, []), cl) | _, _ => None end end
  | [(u, ab)] => let co := middle mo in let pb := plain (inner co) in match loss co, bonus (inner co), objective pb with
      | None, [], Linear den cost => if negb (least_capacity mo) && well_formed pb && alike (prior u) (weights pb)
          then Some (Problem (prior u) (aim u) (base pb) [] (outputs pb) (rows pb), ab, (den, cost), cl) else None
      | _, _, _ => None end
  | _ => None end.
Fixpoint split_at (W l : list Z) : list Z * list Z := match W, l with _ :: W, a :: l => let (p, q) := split_at W l in (a :: p, q) | _, _ => ([], l) end.
(* c.q_y is at most R, by multipliers of the rows and of the sums of the inputs. *)
Definition at_most_common pb m y (c a l : list Z) R : bool := let k := zlen (weights pb) in match add_rows k 1 (rows pb) l Tip 0 with
  | Some (t, b) => (zsum a + b <=? R) && forallb (fun z => same (merge (z * k) t a) (if z =? y then c else zeros a)) (numbers m (fun z => z)) | None => false end.
Fixpoint measured pb m R (y : Z) (ls : list (list Z)) : option (list (list Z)) := match ls with [] => Some []
  | l :: ls => let (c, r) := split_at (weights pb) l in let (a, l) := split_at (weights pb) r in let n := zscale (-1) in
      if alike c (weights pb) && alike a (weights pb) && nonnegative c && at_most_common pb m y c a l R && at_most_common pb m y (n c) (n a) (n l) (- R)
      then match measured pb m R (y + 1) ls with Some s => Some (c :: s) | None => None end else None end.
Definition mat_start mo (cl : Z * Z) hs (E : Z) (ratios : list (Z * Z)) (R : Z) (ms : list (list Z)) : option (mat * list mstate) :=
  match aimed mo cl hs with None => None | Some (pb, (a, b), (den, cost), cl) => let W := weights pb in let T := zsum W in let k := zlen W in
  match outputs pb, base pb, ratios with
  | Some m, Complete r, [(G, h)] => let kd := kind_of pb in match phi_up kd D, phi_up kd G, measured pb m R 0 ms with
    | Some p1, Some p, Some cs => let E' := a * den * E in
      let gs := match objective pb with Bayes _ gs => Some gs | _ => None end in let gden := match objective pb with Bayes d _ => d | _ => 1 end in
      if well_formed pb && (0 <? E) && (0 <? snd cl) && (0 <? a) && (0 <? b) && (0 <? den) && (0 <=? R) && at_least r G h && (h =? D) && (D <=? G) &&
        match objective pb with Linear _ _ => false | _ => true end && match cs with [] => true | _ => zlen cs =? m end then
        Some (Mat (Env kd E' T W (groups_of pb) None NoEdges [] [] (rows pb) cl false) (Env kd E' T W (groups_of pb) (Some (G, p)) NoEdges [] [W; map (fun _ => 1) W] (rows pb) cl false)
            gs gden (b * den) (add_terms k (- (b * E)) cost Tip) (Ent D p1 (Some (G, p))) p1 cs R E,
          [Matrix (Whole (numbers m (fun _ => map (fun _ => Ent D p1 (Some (G, p))) W)) (numbers m (fun _ => match gs with Some gs => numbers (zlen gs) (fun a => a) | None => [] end)) [])])
      else None
    | _, _, _ => None end
  | _, _, _ => None end end.
Close Scope Z_scope.

(* ---- limits ---- *)
Definition ok_box kd (b : list ent) (v : list R) := Forall2 (okent kd) b v.
Lemma vd_lt a b : (a < b)%Z -> vd a < vd b.
Proof. intros H. apply IZR_lt in H. pose proof d_pos. unfold vd. nra. Qed.
Lemma cap_ok kd c p e y : okent kd e y -> phi kd (vd c) <= IZR p * d * d -> y <= vd c -> okent kd (cap c p e) y.
Proof.
  unfold okent, cap. intros (A & B & C & E) P0 Y. destruct (high e) as [[h q]|] eqn:H; [destruct (h <=? c)%Z|]; cbn [low plow high]; rewrite ?H; auto.
Qed.
Lemma lift_ok kd c p e y : okent kd e y -> (0 <= c)%Z -> phi kd (vd c) <= IZR p * d * d -> vd c <= y -> okent kd (lift_ c p e) y.
Proof. unfold okent, lift_. intros (A & B & C & E) C0 P0 Y. destruct (c <=? low e)%Z; cbn [low plow high]; auto. Qed.
Lemma ones_left_ok kd b v : ok_box kd b v -> Exists (eq 1) v -> (0 < ones_left b)%Z.
Proof.
  assert (N : forall b, (0 <= ones_left b)%Z). { induction b0 as [|e b0 IH]; simpl; [lia|]. destruct (low e <=? D)%Z; lia. }
  induction 1 as [|e y b v (A & B & _) H IH]; intros X; simpl; inversion X as [? ? E|? ? E]; subst.
  - pose proof (N b). destruct (Z.leb_spec (low e) D) as [L|L]; [lia|]. apply vd_lt in L. rewrite vdD in L. lra.
  - specialize (IH E). destruct (low e <=? D)%Z; lia.
Qed.
Lemma tight_ok kd p1 b v : ok_box kd b v -> Exists (eq 1) v -> phi kd 1 <= IZR p1 * d * d -> ok_box kd (tight p1 b) v.
Proof.
  unfold tight. intros H X P0. destruct (Z.eqb_spec (ones_left b) 1) as [E|]; auto. revert X E.
  assert (K : forall b v, ok_box kd b v -> ones_left b = 0%Z -> ok_box kd (map (fun e => if (low e <=? D)%Z then cap D p1 e else e) b) v).
  { clear. assert (N : forall b, (0 <= ones_left b)%Z). { induction b as [|e b IH]; simpl; [lia|]. destruct (low e <=? D)%Z; lia. }
    induction 1 as [|e y b v He H IH]; intros E; simpl in *; constructor; pose proof (N b); destruct (Z.leb_spec (low e) D); try lia; auto; apply IH; lia. }
  assert (N : forall b, (0 <= ones_left b)%Z). { clear. induction b as [|e b IH]; simpl; [lia|]. destruct (low e <=? D)%Z; lia. }
  induction H as [|e y b v He H IH]; intros X E; simpl in *. { inversion X. } pose proof (N b). inversion X as [? ? Y|? ? Y]; subst.
  - assert (L : (low e <= D)%Z). { destruct (Z.leb_spec (low e) D) as [|L]; auto. apply vd_lt in L. rewrite vdD in L. destruct He as (_ & B & _). lra. }
    destruct (Z.leb_spec (low e) D); [|lia]. constructor; [|apply K; auto; lia]. apply cap_ok; auto; rewrite vdD; lra.
  - pose proof (ones_left_ok _ _ _ H Y). destruct (Z.leb_spec (low e) D); [lia|]. constructor; auto; apply IH; auto; lia.
Qed.
Lemma shut_ok kd b v : shut b = true -> ok_box kd b v -> Exists (eq 1) v -> False.
Proof.
  unfold shut. intros H B X. apply orb_prop in H. destruct H as [H|H]. { apply Z.eqb_eq in H. pose proof (ones_left_ok _ _ _ B X). lia. }
  apply existsb_exists in H. destruct H as (e & I & C). clear X. induction B as [|e' y b v He B IH]; [destruct I|]. destruct I as [->|I]; auto.
  unfold crossed in C. destruct He as (_ & L & _ & U). destruct (high e) as [[h q]|]; [|discriminate]. destruct U as [U _]. apply Z.ltb_lt, vd_lt in C. lra.
Qed.
Lemma same_box_eq : forall a b, same_box a b = true -> a = b.
Proof.
  induction a as [|[l p h] a IH]; destruct b as [|[l' p' h'] b]; simpl; intros H; try discriminate; auto. apply andb_prop in H. destruct H as [H T]. apply IH in T. subst b.
  unfold same_ent in H. cbn [low plow high] in H. apply andb_prop in H. destruct H as [H C]. apply andb_prop in H. destruct H as [A B]. apply Z.eqb_eq in A, B. subst l' p'. f_equal. f_equal.
  destruct h as [[? ?]|], h' as [[? ?]|]; try discriminate; auto. apply andb_prop in C. destruct C as [A B]. apply Z.eqb_eq in A, B. now subst.
Qed.
Lemma updz_box kd f b v x e : ok_box kd b v -> nthz x b = Some e -> (okent kd e (entry x v) -> okent kd (f e) (entry x v)) -> ok_box kd (updz x f b) v.
Proof.
  intros B E F. apply updz_ok; auto. intros a y A Y O. rewrite E in A. apply Some_inj in A. subst a. apply nthz_entry in Y. subst y. auto.
Qed.
Lemma box_entry kd b v x e : ok_box kd b v -> nthz x b = Some e -> okent kd e (entry x v) /\ (0 <= x)%Z /\ nthz x v = Some (entry x v).
Proof.
  intros B E. destruct (Forall2_nthz _ _ _ B _ _ E) as (y & Y & O). pose proof (nthz_entry _ _ _ Y). subst y. split; auto. split; auto. eapply nthz_range; eauto.
Qed.
Lemma updz_split : forall (v : list R) x y, nthz x v = Some y -> exists l1 l2, v = l1 ++ y :: l2 /\ forall c, updz x (fun _ => c) v = l1 ++ c :: l2.
Proof.
  induction v as [|a v IH]; simpl; intros x y H; [discriminate|]. destruct (x =? 0)%Z. { apply Some_inj in H. subst. exists [], v. auto. }
  destruct (IH _ _ H) as (l1 & l2 & E & K). exists (a :: l1), l2. split. { now rewrite E. } intros c. now rewrite K.
Qed.

(* ---- one column ---- *)
Section Column.
Variables (pb : problem) (en : env) (E : Z).
Hypothesis FM : formed pb.
Hypothesis HE : (0 < E)%Z.
Notation W := (weights pb).
Notation T := (zsum W).
Notation kd := (kind_of pb).
Variable rs : list row. Variable cl : Z * Z.
Hypothesis EN : en = Env kd E T W (groups_of pb) None NoEdges [] [] rs cl false.
Definition isof (s : list (Z * Z)) v : bool := forallb (fun xc => if Rle_dec (vd (snd xc)) (entry (fst xc) v) then true else false) s.
(* What the sets add at v to the price of w. *)
Definition added ex c v w := total (fun sn : list (Z * Z) * Z => if isof (fst sn) v then IZR (snd sn) * dot c w else 0) ex.
Definition near_ok p v := match near p with None => True | Some r => Exists (eq 1) v /\ Forall (fun xc => entry (fst xc) v < vd (snd xc)) (below r) end.
Definition plus_of p v := match near p with None => 0 | Some r => added (extras r) (each_ r) v v end.
Definition sound_single p := length (price p) = length W /\ match near p with None => True | Some r => Forall (Z.le 0) (each_ r) /\ (extras r = [] \/ length (each_ r) = length W) end.
Definition good_single p := sound_single p -> forall v, length v = length W -> Forall (Rle 1) v -> ok_box kd (box p) v -> near_ok p v -> IZR E * earned pb v <= dot (price p) v + plus_of p v.

Lemma inside_ok b v s : ok_box kd b v -> inside b s = true -> isof s v = true.
Proof.
  unfold inside, isof. intros B H. rewrite forallb_forall in H |- *. intros xc I. specialize (H xc I). destruct (nthz (fst xc) b) as [e|] eqn:N; [|discriminate].
  apply Z.leb_le, vd_mono in H. destruct (box_entry _ _ _ _ _ B N) as ((_ & L & _) & _). destruct (Rle_dec (vd (snd xc)) (entry (fst xc) v)); auto. lra.
Qed.
Lemma outside_ok l v s : Forall (fun xc => entry (fst xc) v < vd (snd xc)) l -> outside l s = true -> isof s v = false.
Proof.
  unfold outside, isof. intros L H. apply existsb_exists in H. destruct H as (xc & I & H). apply existsb_exists in H. destruct H as (yc & J & H). split_and H. apply Z.eqb_eq in H. apply Z.leb_le, vd_mono in H0.
  rewrite Forall_forall in L. specialize (L yc J). rewrite <- H in L. destruct (forallb _ s) eqn:F; auto. rewrite forallb_forall in F. specialize (F xc I). destruct (Rle_dec (vd (snd xc)) (entry (fst xc) v)); [lra|discriminate].
Qed.
Lemma settled_ok p v : sound_single p -> length v = length W -> Forall (Rle 1) v -> ok_box kd (box p) v -> near_ok p v ->
  length (settled p) = length W /\ dot (settled p) v <= dot (price p) v + plus_of p v.
Proof.
  unfold settled, sound_single, near_ok, plus_of. intros [LP SP] Lv V B N. destruct (near p) as [r|]; [|split; [auto|lra]]. destruct N as [_ N]. destruct SP as [S0 SP].
  assert (M0 : 0 <= dot (each_ r) v). { apply dot_pos; auto. eapply Forall_impl; [|exact V]. simpl. intros; lra. }
  unfold added. destruct SP as [->|LM]. { simpl. split; auto. lra. } induction (extras r) as [|[s n] ex [IL IH]]; cbn [fold_right total fst snd]. { split; auto. lra. }
  assert (Lz : forall c, length (zscale c (each_ r)) = length W) by (intros; rewrite len_scale; auto).
  destruct (inside (box p) s) eqn:I.
  - rewrite (inside_ok _ _ _ B I). rewrite len_zplus, dot_zplus, dot_scale by (rewrite Lz; auto). split; auto. lra.
  - destruct (outside (below r) s) eqn:O.
    + rewrite (outside_ok _ _ _ N O). split; auto. lra.
    + rewrite len_zplus, dot_zplus, dot_scale by (rewrite Lz; auto). split; auto. assert (K : IZR (Z.min 0 n) <= 0 /\ IZR (Z.min 0 n) <= IZR n) by (split; apply IZR_le; lia). destruct (isof s v); nra.
Qed.
Lemma env_single_ok : env_ok en.
Proof. subst en. apply (make_env pb (Header Corner E [] [] [])); simpl; auto. discriminate. Qed.
Lemma square_leaf_ok q b j v : kd = Square -> square_leaf E T W q b j = true -> length q = length W -> length v = length W -> Forall (Rle 1) v -> ok_box kd b v -> IZR E * earned pb v <= dot q v.
Proof.
  unfold square_leaf. cbv zeta. intros K H Lq Lv V B. rewrite K in B. pose proof (fT pb FM) as HT. apply IZR_lt in HT. assert (HE' := HE). apply IZR_lt in HE'. pose proof d_pos as dp. pose proof DR_pos as DP.
  set (S := zplus (zscale E W) q) in *. assert (LS : length S = length v) by (unfold S; rewrite len_zplus; rewrite len_scale; lia).
  assert (DS : dot S v = IZR E * dot W v + dot q v) by (unfold S; rewrite dot_zplus, dot_scale by (rewrite len_scale; lia); auto).
  assert (EG : forall q r, length q = length v -> endsum (zeros W) q b = Some r -> dot q v <= IZR r * d).
  { intros q' r L F. apply (endsum_ok Square (zeros W) q' b v r (zeros_nonneg W)) in F; auto; [|rewrite len_zeros; auto]. rewrite zphi_zeros in F.
    apply (Rmult_le_reg_r (d * d)); [nra|]. lra. }
  assert (W1 : IZR T <= dot W v). { rewrite <- (Rmult_1_l (IZR T)). apply dot_above; auto. apply FM. lra. }
  match type of H with match ?a with _ => _ end = _ => destruct a as [w|] eqn:EW; [|discriminate] end. match type of H with match ?a with _ => _ end = _ => destruct a as [s|] eqn:ES; [|discriminate] end.
  destruct (endsum _ _ b) as [r|] eqn:R0 in H; [|discriminate]. apply Z.leb_le in H.
  apply (endsum_ok Square _ _ b v r) in R0; auto; [|apply scale_nonneg; [apply Z.lt_le_incl; apply lt_IZR in HT; nia|apply FM]|rewrite len_scale; auto|rewrite len_scale, len_zplus; rewrite !len_scale; lia].
  rewrite zphi_scale, dot_scale, dot_zplus, !dot_scale, opp_IZR, mult_IZR in R0 by (rewrite !len_scale; lia). fold DR in R0.
  assert (MC : IZR w * d * dot S v + IZR s * d * dot W v - IZR w * d * (IZR s * d) <= dot W v * dot S v).
  { assert (P0 : 0 <= (dot W v - IZR w * d) * (dot S v - IZR s * d)); [|lra]. destruct j.
    - apply EG in EW; auto. apply EG in ES; auto. nra.
    - destruct (endsum (zeros W) (zscale (-1) W) b) as [w'|] eqn:EW'; [|discriminate]. destruct (endsum (zeros W) (zscale (-1) S) b) as [s'|] eqn:ES'; [|discriminate]. apply Some_inj in EW, ES. subst w s.
      apply EG in EW'; [|rewrite len_scale; auto]. apply EG in ES'; [|rewrite len_scale; auto]. rewrite dot_scale in EW', ES'. rewrite !opp_IZR. nra. }
  apply d3_mono in H. rewrite plus_IZR, !mult_IZR in H. fold DR in H.
  assert (K1 : IZR E * IZR T * zphi Square W v - dot W v * dot S v <= 0).
  { replace (- DR * (IZR w * dot S v + IZR s * dot W v) * d * d) with (- (DR * d) * (IZR w * d * dot S v + IZR s * d * dot W v)) in R0 by ring.
    replace ((IZR w * IZR s * DR + IZR r) * d * d * d) with (IZR w * d * (IZR s * d) * (DR * d) + IZR r * d * d * d) in H by ring. rewrite DRd in H, R0. lra. }
  unfold earned. rewrite K. unfold chi_square. rewrite squares_zphi. set (w0 := dot W v) in *. set (S2 := zphi Square W v) in *.
  replace (IZR T * (w0 / IZR T)) with w0 by (field; lra). replace (S2 / (w0 / IZR T)) with (IZR T * S2 / w0) by (field; lra). rewrite DS in K1.
  apply (Rmult_le_reg_r w0); [lra|]. replace (IZR E * (IZR T * S2 / w0 - w0) * w0) with (IZR E * IZR T * S2 - IZR E * w0 * w0) by (field; lra). nra.
Qed.
Lemma single_leaf_ok p ts m : single_leaf en p ts m = true -> good_single p.
Proof.
  unfold single_leaf. intros H SP v Lv V B N. apply orb_prop in H. destruct H as [H|H].
  { destruct (near p) as [r|] eqn:Q; [|discriminate]. unfold near_ok in N. rewrite Q in N. apply Z.eqb_eq in H. pose proof (ones_left_ok _ _ _ B (proj1 N)). lia. }
  destruct (settled_ok p v SP Lv V B N) as [LS S]. eapply Rle_trans; [|exact S]. clear S. cbv zeta in H. pose proof env_single_ok as EO.
  assert (EK : knd en = kd) by now subst en. rewrite EK in H. assert (EW : wts en = W) by now subst en. assert (EF : forms en = []) by now subst en. assert (EU : unit_ en = E) by now subst en.
  assert (X : kd <> Square -> leaf en (settled p) (Col (box p) []) ts m = true -> IZR E * earned pb v <= dot (settled p) v).
  { intros NS L. assert (DM : dom en v).
    { subst en. constructor; cbn [wts edges halfs corner knd]; auto; try discriminate. eapply Forall_impl; [|exact V]; simpl; intros; lra. all: try constructor; intros; congruence. }
    apply (leaf_ok en EO _ _ _ _ v) in L; auto; [|now rewrite EW|split; cbn [ents lims]; [now rewrite EK|now rewrite EF]].
    unfold owes in L. rewrite (env_gain pb en) in L by (subst en; auto). rewrite EU in L. lra. }
  destruct kd eqn:K; try (apply X; auto; discriminate).
  destruct ts; [|discriminate]. destruct m as [[|] [|] [|]]; try discriminate. assert (ET : total_ en = T) by now subst en. rewrite EU, ET, EW in H. rewrite <- K in B.
  apply orb_prop in H. destruct H as [H|H]; exact (square_leaf_ok (settled p) (box p) _ v K H LS Lv V B).
Qed.
End Column.

(* ---- the whole matrix ---- *)
Section Whole.
Variables (pb : problem) (E' E b den : Z) (cost : terms) (G p p1 m mass : Z) (cl : Z * Z) (cs : list (list Z)).
Notation W := (weights pb).
Notation T := (zsum W).
Notation kd := (kind_of pb).
Notation k := (zlen W).
Definition gains_of := match objective pb with Bayes _ gs => Some gs | _ => None end.
Definition gains_den := match objective pb with Bayes e _ => e | _ => 1%Z end.
Definition mat_of := Mat (Env kd E' T W (groups_of pb) None NoEdges [] [] (rows pb) cl false) (corner_env pb E' G p cl) gains_of gains_den (b * den)
  (add_terms k (- (b * E)) cost Tip) (Ent D p1 (Some (G, p))) p1 cs mass E.
Notation mt := mat_of.
Hypothesis FM : formed pb.
Hypothesis HE' : (0 < E')%Z.
Hypothesis HE : (0 < E)%Z.
Hypothesis HM : (0 < snd cl)%Z.
Hypothesis HB : (0 < b * den)%Z.
Hypothesis HG : (D <= G)%Z.
Hypothesis P1 : phi_up kd D = Some p1.
Hypothesis P0 : phi_up kd G = Some p.
Variable QV : list (list R * list R).
Notation Q := (map fst QV).
Hypothesis HQ : mechanism pb Q.
Hypothesis HC : forallb (term_ok k (count pb)) cost = true.
Definition shape (q v : list R) := length v = length W /\ (Forall (eq 0) q \/ exists s, 0 < s /\ q = scale s v /\ Forall (fun y => 1 <= y <= vd G) v /\ Exists (eq 1) v).
Hypothesis SH : Forall (fun qv => shape (fst qv) (snd qv)) QV.
Hypothesis MS : Forall (Forall (Z.le 0)) cs /\ Forall (fun c => length c = length W) cs /\ (cs = [] \/ Forall2 (fun c q => dot c q = IZR mass) cs Q).
Definition worth1 q := match gains_of with None => earned pb q | Some gs => best (map (fun g => dot (products W g) q) gs) / IZR gains_den end.
Definition best_of (l : list Z) q := match gains_of with None => True | Some gs => exists a g, In a l /\ nthz a gs = Some g /\ best (map (fun g => dot (products W g) q) gs) = dot (products W g) q end.
Definition number_in s : Z := zsum (map (fun qv : list R * list R => if isof s (snd qv) then 1%Z else 0%Z) QV).
Definition counted (c : list (Z * Z) * Z * bool) := match c with (s, n, le) => if le then (number_in s <= n)%Z else (n + 1 <= number_in s)%Z end.
Definition reached := IZR E' * total worth1 Q + IZR T * (IZR (b * E) * form cost Q) <= IZR T * IZR (b * den) * (IZR E * (IZR (fst cl) / IZR (snd cl))).
Definition in_box (bx : list ent) (qv : list R * list R) := Forall (eq 0) (fst qv) \/ ok_box kd bx (snd qv).
Definition good_m st := match st with
  | Matrix w => Forall2 in_box (boxes w) QV -> Forall2 (fun l qv => best_of l (fst qv)) (acts w) QV -> Forall counted (counts w) -> reached
  | One s => good_single pb E' s
  | Tree t => good (cenv mt) t end.
Definition owed (ex : list (list (Z * Z) * Z)) u := forall v, length v = length W -> Forall (Rle 1) v -> Exists (eq 1) v -> ok_box kd (where_ u) v ->
  match gains_of with None => IZR E' * earned pb v <= dot (down u) v + added ex (even u) v v
  | Some gs => forall a g, In a (whose u) -> nthz a gs = Some g -> IZR E' * dot (products W g) v <= IZR gains_den * (dot (down u) v + added ex (even u) v v) end.
Definition sound_duty (ex : list (list (Z * Z) * Z)) u := length (down u) = length W /\ Forall (Z.le 0) (even u) /\ (ex = [] \/ length (even u) = length W).

Lemma added_times c ex e v w : added (map (fun sn : list (Z * Z) * Z => (fst sn, (c * snd sn)%Z)) ex) e v w = IZR c * added ex e v w.
Proof. unfold added. induction ex as [|[s n] ex IH]; cbn [map total fst snd]; [lra|]. rewrite IH, mult_IZR. destruct (isof s v); lra. Qed.
Lemma added_scale ex e v s w : added ex e v (scale s w) = s * added ex e v w.
Proof. unfold added. induction ex as [|[t n] ex IH]; cbn [total fst snd]; [lra|]. rewrite IH, dotR_scale. destruct (isof t v); lra. Qed.
Lemma prices_of_ok g e dn own : forall l qs, prices_of g e dn W own l = Some qs -> match g with None => In own qs
  | Some gs => forall a, In a l -> exists g, nthz a gs = Some g /\ In (zplus (zscale dn own) (zscale (- e) (products W g))) qs end.
Proof.
  destruct g as [gs|]. 2: { intros l qs H. destruct l; apply Some_inj in H; subst; now left. }
  induction l as [|a l IH]; simpl; intros qs H a' I; [destruct I|]. destruct (nthz a gs) as [g|] eqn:N; [|discriminate]. destruct (prices_of _ _ _ _ _ l) as [qs'|] eqn:F; [|discriminate].
  apply Some_inj in H. subst qs. destruct I as [<-|I]. exists g. split; auto. now left. destruct (IH _ eq_refl a' I) as (g' & A & B). exists g'. split; auto. now right.
Qed.
Lemma child_ok ex us ways y way u l : nthz y us = Some u -> sound_duty ex u -> (way = y \/ way = (-1)%Z) -> child mt ex us ways y way = Some l -> Forall good_m l -> owed ex u.
Proof.
  unfold child. intros U (SD1 & SD2 & SD3) WY H GL v Lv V X B. rewrite U in H. destruct (shut (where_ u)) eqn:SHU. { destruct (shut_ok _ _ _ SHU B X). }
  destruct (way =? y)%Z eqn:WE.
  - destruct (prices_of _ _ _ _ _ _) as [qs|] eqn:PR; [|discriminate]. apply Some_inj in H. subst l. apply prices_of_ok in PR. cbn [gains menv mden mat_of unit_ wts] in PR, GL.
    assert (K : forall q, In q qs -> length q = length W -> IZR E' * earned pb v <= dot q v + IZR gains_den * added ex (even u) v v).
    { intros q I Lq. rewrite Forall_forall in GL. specialize (GL _ (in_map _ _ _ I)). simpl in GL. unfold good_single in GL. rewrite <- added_times. apply GL; auto.
      - split; auto. cbn [near extras each_]. split; auto. destruct SD3 as [->|]; auto.
      - split; [exact X|]. constructor. }
    unfold gains_of, gains_den in *. destruct (objective pb) as [|dn gs| |] eqn:O.
    1, 3, 4: specialize (K _ PR SD1); rewrite Rmult_1_l in K; exact K.
    intros a g Ia Ng. destruct (PR a Ia) as (g' & Ng' & I). rewrite Ng in Ng'. apply Some_inj in Ng'. subst g'. pose proof (fO pb FM) as FO. rewrite O in FO. destruct FO as (_ & _ & FG). rewrite Forall_forall in FG.
    assert (LP : length (products W g) = length W) by (apply len_products, FG; eapply nthz_in; eauto).
    specialize (K _ I ltac:(rewrite len_zplus; rewrite !len_scale; lia)). rewrite dot_zplus, !dot_scale, opp_IZR in K by (rewrite !len_scale; lia).
    replace (earned pb v) with 0 in K by (unfold earned, kind_of; now rewrite O). lra.
  - destruct WY as [-> | ->]; [rewrite Z.eqb_refl in WE; discriminate|]. rewrite Z.eqb_refl in H. unfold whole_tree in H. cbn [gains mat_of cenv menv wts top] in H.
    destruct gains_of as [gs|]; [discriminate|]. destruct ex; [|discriminate]. cbn [corner corner_env] in H. destruct (same_box _ _) eqn:SB; [|discriminate]. apply Some_inj in H. subst l. apply same_box_eq in SB.
    inversion GL as [|? ? G1 _]; subst. simpl in G1. unfold added. simpl total. rewrite Rplus_0_r.
    pose proof (corner_box pb E' (down u) cl G p p1 FM HE' HG P1 P0 SD1) as CB. unfold corner_root in CB. rewrite <- SB in CB. specialize (CB G1 v Lv).
    assert (J : IZR E' * earned pb v - dot (down u) v <= 0); [|lra]. apply CB. rewrite SB in B. clear - B V. revert V. revert B. generalize W. intros V0. revert v.
    induction V0 as [|w V0 IH]; intros v B V; inversion B as [|? ? ? ? O B']; subst; constructor. { destruct O as (_ & _ & _ & O). simpl in O. inversion V; subst. tauto. } inversion V; subst. apply IH; auto.
Qed.
Lemma children_ok ex us ways : forall l y st, children mt ex us ways y l = Some st -> Forall good_m st -> forall i way, nthz i l = Some way ->
  exists st', child mt ex us ways (y + i) way = Some st' /\ Forall good_m st'.
Proof.
  induction l as [|w l IH]; simpl; intros y st H GL i way N; [discriminate|]. destruct (child mt ex us ways y w) as [a|] eqn:C; [|discriminate]. destruct (children mt ex us ways (y + 1) l) as [c|] eqn:CH; [|discriminate].
  apply Some_inj in H. subst st. apply Forall_app in GL. destruct GL as [G1 G2]. destruct (Z.eqb_spec i 0) as [->|N0]. { apply Some_inj in N. subst w. rewrite Z.add_0_r. eauto. }
  destruct (IH _ _ CH G2 _ _ N) as (st' & A & B0). exists st'. split; auto. replace (y + i)%Z with (y + 1 + (i - 1))%Z by lia. exact A.
Qed.
Lemma nthz_some {A} : forall (l : list A) i, (0 <= i < Z.of_nat (length l))%Z -> exists a, nthz i l = Some a.
Proof. induction l as [|a l IH]; cbn [nthz length]; intros i H; [lia|]. destruct (Z.eqb_spec i 0); eauto. apply IH. lia. Qed.
Lemma nthz_len {A} : forall (l : list A) i a, nthz i l = Some a -> (0 <= i < Z.of_nat (length l))%Z.
Proof. induction l as [|c l IH]; cbn [nthz length]; intros i a H; [discriminate|]. destruct (Z.eqb_spec i 0); [lia|]. apply IH in H. lia. Qed.
Lemma all_owed ex us ways st : children mt ex us ways 0 ways = Some st -> Forall good_m st -> length ways = length us -> Forall (sound_duty ex) us -> Forall (owed ex) us.
Proof.
  intros H GL LU SD. assert (K : forall i u, nthz i us = Some u -> owed ex u).
  { intros i u U. assert (SDu : forall j w, nthz j us = Some w -> sound_duty ex w) by (intros j w J; rewrite Forall_forall in SD; eapply SD, nthz_in; eauto).
    pose proof (nthz_len _ _ _ U) as L. destruct (nthz_some ways i ltac:(lia)) as (way & N). destruct (children_ok _ _ _ _ _ _ H GL _ _ N) as (s1 & C & G1). rewrite Z.add_0_l in C.
    destruct (Z.eq_dec way i) as [E1|N1]; [exact (child_ok ex us ways i way u s1 U (SDu i u U) (or_introl E1) C G1)|].
    destruct (Z.eq_dec way (-1)) as [E2|N2]; [exact (child_ok ex us ways i way u s1 U (SDu i u U) (or_intror E2) C G1)|].
    unfold child in C. rewrite U in C. destruct (shut (where_ u)) eqn:SHU. { intros v Lv V X B. destruct (shut_ok _ _ _ SHU B X). }
    apply Z.eqb_neq in N1, N2. rewrite N1, N2 in C. destruct (nthz way us) as [v|] eqn:V; [|discriminate]. destruct (nthz way ways) as [w|] eqn:Nw; [|discriminate].
    destruct (same_duty u v && ((w =? way)%Z || (w =? -1)%Z))%bool eqn:S; [|discriminate]. split_and S. apply orb_prop in S0. unfold same_duty in S. split_and S. apply same_eq in S, S1, S2. apply same_box_eq in S3.
    assert (EQ : u = v). { destruct u, v. cbn [down where_ whose even] in *. now subst. } subst v.
    destruct (children_ok _ _ _ _ _ _ H GL _ _ Nw) as (s2 & C2 & G2). rewrite Z.add_0_l in C2. apply (child_ok ex us ways way w u s2); auto. eapply SDu; eauto. destruct S0 as [S0|S0]; apply Z.eqb_eq in S0; auto. }
  apply Forall_forall. intros u I. apply (In_nth us u u) in I. destruct I as (j & J & <-). apply (K (Z.of_nat j)). destruct (nthz_some us (Z.of_nat j) ltac:(lia)) as (a & A). rewrite A. f_equal. apply (nthz_nth u) in A. rewrite Nat2Z.id in A. auto.
Qed.
(* What one column pays. *)
Lemma added_zero ex e v q : Forall (eq 0) q -> added ex e v q = 0.
Proof. intros Z0. unfold added. induction ex as [|[s n] ex IH]; cbn [total fst snd]; auto. rewrite IH, (zero_all q Z0). destruct (isof s v); ring. Qed.
Lemma gains_den_pos : (0 < gains_den)%Z.
Proof. unfold gains_den. pose proof (fO pb FM) as FO. destruct (objective pb); lia. Qed.
Lemma column_pays ex u bx qv : owed ex u -> where_ u = tight p1 bx -> in_box bx qv -> shape (fst qv) (snd qv) -> best_of (whose u) (fst qv) -> Forall (Rle 0) (fst qv) ->
  IZR E' * worth1 (fst qv) <= dot (down u) (fst qv) + added ex (even u) (snd qv) (fst qv).
Proof.
  destruct qv as [q v]. cbn [fst snd]. intros O WB IB [Lv S] BO Nq. pose proof gains_den_pos as DP. apply IZR_lt in DP.
  assert (Z0 : Forall (eq 0) q -> IZR E' * worth1 q <= dot (down u) q + added ex (even u) v q).
  { intros Zq. rewrite added_zero, (zero_all q Zq) by auto. unfold worth1, best_of in *. destruct gains_of as [gs|].
    - destruct BO as (a & g & _ & _ & BE). rewrite BE, (zero_all q Zq). unfold Rdiv. lra.
    - rewrite earned_zero; auto. lra. rewrite (zero_all q Zq). lra. }
  destruct S as [Zq|(s & S0 & -> & V & X)]; auto. destruct IB as [Zq|B]; [auto|]. cbn [snd] in B.
  pose proof P1 as P2. apply phi_up_ok in P2. rewrite vdD in P2. destruct P2 as [P2 _]. apply (tight_ok kd p1) in B; auto. rewrite <- WB in B.
  assert (V1 : Forall (Rle 1) v) by (eapply Forall_impl; [|exact V]; simpl; intros; lra). specialize (O v Lv V1 X B). rewrite added_scale, dotR_scale. unfold worth1, best_of in *. destruct gains_of as [gs|].
  - destruct BO as (a & g & Ia & Ng & BE). rewrite BE, dotR_scale. specialize (O a g Ia Ng). apply (Rmult_le_compat_l s) in O; [|lra]. apply (Rmult_le_reg_r (IZR gains_den)); auto.
    replace (IZR E' * (s * dot (products W g) v / IZR gains_den) * IZR gains_den) with (s * (IZR E' * dot (products W g) v)) by (field; lra). lra.
  - rewrite earned_scale by auto. apply (Rmult_le_compat_l s) in O; [|lra]. lra.
Qed.
Definition even_at y := match nthz y cs with Some c => c | None => [] end.
Fixpoint extra_sum ex y (l : list (list R * list R)) := match l with [] => 0 | qv :: l => added ex (even_at y) (snd qv) (fst qv) + extra_sum ex (y + 1)%Z l end.
Lemma matrix_pays ex A t : length A = length W -> forall l bs ac y, Forall2 in_box bs l -> Forall2 (fun a qv => best_of a (fst qv)) ac l -> Forall (fun qv => shape (fst qv) (snd qv)) l ->
  Forall (fun qv => length (fst qv) = length W /\ Forall (Rle 0) (fst qv)) l -> Forall (owed ex) (duties mt y A t bs ac) ->
  IZR E' * total worth1 (map fst l) <= IZR T * (IZR (b * den) * total (dot A) (map fst l) + mdot k y t (map fst l)) + extra_sum ex y l.
Proof.
  intros LA. induction l as [|qv l IH]; intros bs ac y HB1 HA HS HN HO; inversion HB1 as [|bx ? bs' ? B1 B2]; inversion HA as [|a ? ac' ? A1 A2]; subst; cbn [map total mdot extra_sum]. { lra. }
  inversion HS as [|? ? S1 S2]; inversion HN as [|? ? [N0 N1] N2]; subst. cbn [duties] in HO. inversion HO as [|? ? O1 O2]; subst. specialize (IH bs' ac' (y + 1)%Z B2 A2 S2 N2 O2).
  pose proof (column_pays ex _ bx qv O1 eq_refl B1 S1 A1 N1) as K. cbn [down even whose menv mat_of total_ mscale measures] in K. fold (even_at y) in K.
  rewrite dot_scale, dot_merge, dot_scale in K by (rewrite len_scale; lia). replace (zlen A) with k in K by (rewrite !zlen_len; lia). lra.
Qed.
Lemma duties_in A t u : forall bs ac y, In u (duties mt y A t bs ac) -> exists i, (y <= i < y + Z.of_nat (length bs))%Z /\ even u = even_at i /\ length (down u) = length A.
Proof.
  induction bs as [|bx bs IH]; intros [|a ac] y I; cbn [duties] in I; [destruct I|destruct I|destruct I|destruct I as [<-|I]].
  - exists y. cbn [even down length]. split; [lia|]. split; auto. now rewrite len_scale, len_merge, len_scale.
  - destruct (IH _ _ I) as (i & J & K). exists i. split; auto. cbn [length]. lia.
Qed.
Lemma duties_len A t : forall bs ac y, length ac = length bs -> length (duties mt y A t bs ac) = length bs.
Proof. induction bs; intros [|a' ac] y L; cbn [duties length] in *; try discriminate; auto. Qed.
Fixpoint masses y (l : list (list R * list R)) := match l with [] => True | qv :: l => dot (even_at y) (fst qv) = IZR mass /\ masses (y + 1)%Z l end.
Lemma masses_ok : forall cs' l y, Forall2 (fun c q => dot c q = IZR mass) cs' (map fst l) -> (forall j c, nthz j cs' = Some c -> nthz (y + j) cs = Some c) -> masses y l.
Proof.
  induction cs' as [|c cs' IH]; intros [|qv l] y H N; simpl; auto; inversion H as [|? ? ? ? H1 H2]; subst. split.
  - unfold even_at. specialize (N 0%Z c eq_refl). rewrite Z.add_0_r in N. now rewrite N.
  - apply IH; auto. intros j c' J. replace (y + 1 + j)%Z with (y + (j + 1))%Z by lia. apply N. simpl. pose proof (nthz_range _ _ _ J). destruct (Z.eqb_spec (j + 1) 0); [lia|]. replace (j + 1 - 1)%Z with j by lia. auto.
Qed.
Lemma extra_one s n ex : forall l y, masses y l -> extra_sum ((s, n) :: ex) y l = IZR n * IZR mass * IZR (zsum (map (fun qv : list R * list R => if isof s (snd qv) then 1%Z else 0%Z) l)) + extra_sum ex y l.
Proof.
  induction l as [|qv l IH]; intros y M; cbn [extra_sum map zsum]. { lra. } destruct M as [M1 M2]. rewrite (IH _ M2). unfold added. cbn [total fst snd]. rewrite plus_IZR. destruct (isof s (snd qv)); [rewrite M1|]; lra.
Qed.
Lemma extra_nil : forall l y, extra_sum [] y l = 0.
Proof. induction l; intros; cbn [extra_sum]; auto. rewrite IHl. unfold added. simpl. lra. Qed.
Lemma extra_bound c : (0 <= c)%Z -> (0 <= mass)%Z -> masses 0 QV -> forall ns cts s, sums_of mass ns cts = Some s -> Forall counted cts -> extra_sum (extras_of c ns cts) 0 QV <= IZR c * IZR s.
Proof.
  intros Hc Hm M. apply IZR_le in Hc, Hm. induction ns as [|n ns IH]; intros [|[[st N] le] cts] s H C; cbn [sums_of extras_of] in *; try discriminate. { apply Some_inj in H. subst. rewrite extra_nil. lra. }
  destruct (sums_of mass ns cts) as [r|] eqn:F; [|discriminate]. inversion C as [|? ? C1 C2]; subst. specialize (IH cts r F C2). rewrite extra_one, mult_IZR by auto. fold (number_in st).
  destruct (if le then (0 <=? n)%Z else (n <=? 0)%Z) eqn:SG; [|discriminate]. apply Some_inj in H. subst s. rewrite plus_IZR, !mult_IZR.
  assert (K : IZR n * IZR (number_in st) <= IZR n * IZR (if le then N else (N + 1)%Z)).
  { cbn [counted] in C1. destruct le; apply Z.leb_le, IZR_le in SG; apply IZR_le in C1; nra. }
  apply (Rmult_le_compat_l (IZR c * IZR mass)) in K; [|nra]. lra.
Qed.
Lemma len2 {A B} (Pr : A -> B -> Prop) l v : Forall2 Pr l v -> length l = length v.
Proof. induction 1; simpl; auto. Qed.
Lemma priced_ok w A L ns ways l : (0 <= mass)%Z -> priced mt w A L ns ways = Some l -> Forall good_m l -> good_m (Matrix w).
Proof.
  unfold priced. cbv zeta. cbn [menv mat_of wts couplings mscale mbase common claim munit total_]. intros Hm H GL HB1 HA1 HC1.
  destruct (add_rows k (b * den) (rows pb) L (add_terms k (- (b * E)) cost Tip) 0) as [[t b0]|] eqn:R0; [|discriminate]. destruct (sums_of mass ns (counts w)) as [c|] eqn:SO; [|discriminate].
  match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end. split_and C. apply alike_len in C, C2. set (us := duties mt 0 A t (boxes w) (acts w)) in *. set (ex := extras_of _ ns (counts w)) in *.
  pose proof HQ as (HQ1 & HQ2 & HQ3 & HQ4). assert (HN : Forall (fun qv => length (fst qv) = length W /\ Forall (Rle 0) (fst qv)) QV).
  { rewrite Forall_map in HQ1. eapply Forall_impl; [|exact HQ1]. simpl. intros qv (L1 & N1 & _). auto. }
  assert (LB : length (boxes w) = length QV) by (eapply len2; eauto). assert (LAc : length (acts w) = length QV) by (eapply len2; eauto).
  assert (NE : cs = [] -> ns = []). { intros E0. destruct ns; auto. cbn [measures mat_of] in C1. rewrite E0 in C1. discriminate. }
  assert (LC : cs = [] \/ length cs = length QV). { destruct MS as (_ & _ & [M|M]); auto. right. apply len2 in M. rewrite map_length in M. auto. }
  assert (SD : Forall (sound_duty ex) us).
  { apply Forall_forall. intros u I. destruct (duties_in _ _ _ _ _ _ I) as (i & I1 & I2 & I3). destruct MS as (M1 & M2 & _). split; [lia|]. rewrite I2. unfold even_at. rewrite Forall_forall in M1, M2.
    destruct (nthz i cs) as [e|] eqn:N. { apply nthz_in in N. auto. } split; [constructor|]. left. destruct LC as [LC|LC]. { unfold ex. now rewrite (NE LC). }
    exfalso. destruct (nthz_some cs i ltac:(lia)) as (e & N'). congruence. }
  assert (OW : Forall (owed ex) us). { eapply all_owed; eauto. unfold us. rewrite duties_len; lia. }
  pose proof (matrix_pays ex A t C QV (boxes w) (acts w) 0%Z HB1 HA1 SH HN OW) as X. rewrite (sum_prices pb Q A HQ C) in X.
  assert (LQ : Forall (fun q => Z.of_nat (length q) = k) Q). { apply Forall_map. eapply Forall_impl; [|exact HN]. simpl. intros qv [L1 _]. rewrite zlen_len. lia. }
  pose proof (add_rows_ok k (b * den) _ Q LQ ltac:(lia) _ _ _ _ _ _ (fR pb FM) HQ4 R0) as I1. rewrite (add_terms_ok k (- (b * E)) _ Q LQ cost Tip HC), mdot_tip, opp_IZR in I1.
  assert (EX : extra_sum ex 0 QV <= IZR (T * (b * den)) * IZR c).
  { destruct LC as [LC|LC].
    - assert (ns = []) by auto. subst ns. destruct (counts w); [|discriminate]. apply Some_inj in SO. subst c. unfold ex. simpl. rewrite extra_nil. lra.
    - apply extra_bound; auto. pose proof (fT pb FM). nia. destruct MS as (_ & _ & [M|M]). { rewrite M in LC. destruct QV; [exact I|discriminate]. } eapply masses_ok; eauto. }
  unfold reached. destruct cl as [N M]. cbn [fst snd] in *. apply pays_ok in C0; auto. pose proof (fT pb FM) as HT. apply IZR_lt in HT, HB. assert (HE2 := HE). apply IZR_lt in HE2. rewrite !plus_IZR in C0.
  apply (Rmult_le_compat_l (IZR E)) in C0; [|lra]. replace (IZR E * ((IZR (zsum A) + IZR b0 + IZR c) / IZR E)) with (IZR (zsum A) + IZR b0 + IZR c) in C0 by (field; lra).
  apply (Rmult_le_compat_l (IZR T * IZR (b * den))) in C0; [|nra]. eapply Rle_trans; [|exact C0]. apply (Rmult_le_compat_l (IZR T)) in I1; [|lra]. rewrite mult_IZR in EX. lra.
Qed.
Lemma mstep_ok tok st l : (0 <= mass)%Z -> mstep mt tok st = Some l -> Forall good_m l -> good_m st.
Proof.
  intros Hm H GL. assert (Two : forall x y, Some [x; y] = Some l -> good_m x /\ good_m y). { intros x y K. apply Some_inj in K. subst l. inversion GL as [|? ? G1 G2]; inversion G2; auto. }
  destruct st as [w|s|st]; destruct tok as [tk|y a|s0 n|A L ns ways]; cbn [mstep] in H; try discriminate.
  - destruct tk; try discriminate. cbn [menv mat_of knd] in H. destruct (nthz y (boxes w)) as [bx|] eqn:NB; [|discriminate]. destruct (phi_up kd c) as [q|] eqn:PH; [|discriminate]. destruct (nthz x bx) as [e|] eqn:NX; [|discriminate].
    apply phi_up_ok in PH. destruct PH as [PH C0]. apply Two in H. destruct H as [G1 G2]. intros HB1 HA1 HC1. destruct (Forall2_nthz _ _ _ HB1 _ _ NB) as (qv & NQ & IB).
    assert (UP : forall f, in_box (f bx) qv -> Forall2 in_box (updz y f (boxes w)) QV).
    { intros f K. apply updz_ok; auto. intros b1 qv1 J1 J2 _. rewrite NB in J1. rewrite NQ in J2. apply Some_inj in J1, J2. now subst. }
    destruct IB as [Z0|B]. { apply G1; auto. apply UP. now left. } destruct (box_entry _ _ _ _ _ B NX) as (O & _ & _).
    destruct (Rle_dec (entry x (snd qv)) (vd c)) as [LE|GT].
    + apply G1; auto. apply UP. right. eapply updz_box; eauto. intros _. apply cap_ok; auto.
    + apply G2; auto. apply UP. right. eapply updz_box; eauto. intros _. apply lift_ok; auto. lra.
  - destruct (nthz y (acts w)) as [ac|] eqn:NA; [|discriminate]. apply Two in H. destruct H as [G1 G2]. intros HB1 HA1 HC1. destruct (Forall2_nthz _ _ _ HA1 _ _ NA) as (qv & NQ & BO).
    assert (UP : forall f, best_of (f ac) (fst qv) -> Forall2 (fun a qv => best_of a (fst qv)) (updz y f (acts w)) QV).
    { intros f K. apply updz_ok; auto. intros b1 qv1 J1 J2 _. rewrite NA in J1. rewrite NQ in J2. apply Some_inj in J1, J2. now subst. }
    unfold best_of in BO, UP. destruct gains_of as [gs|] eqn:GO.
    2: { apply G1; auto. simpl. unfold best_of. rewrite GO. apply UP. exact I. }
    destruct BO as (a' & g & Ia & Ng & BE). destruct (Z.eq_dec a' a) as [->|NE].
    + apply G1; auto. simpl. unfold best_of. rewrite GO. apply UP. exists a, g. split; [now left|auto].
    + apply G2; auto. simpl. unfold best_of. rewrite GO. apply UP. exists a', g. split; [|auto]. apply filter_In. split; auto. apply negb_true_iff, Z.eqb_neq. auto.
  - apply Two in H. destruct H as [G1 G2]. intros HB1 HA1 HC1. destruct (Z.le_gt_cases (number_in s0) n); [apply G1|apply G2]; auto; constructor; auto; simpl; lia.
  - eapply priced_ok; eauto.
  - destruct tk; try discriminate; cbn [menv mat_of knd] in H.
    + destruct (near s) as [r|] eqn:NR; [|discriminate]. destruct (nthz x (box s)) as [e|] eqn:NX; [|discriminate]. destruct (phi_up kd c) as [q|] eqn:PH; [|discriminate]. destruct (y =? 0)%Z; [|discriminate].
      apply phi_up_ok in PH. destruct PH as [PH C0]. apply Two in H. destruct H as [G1 G2]. intros [S1 S2] v Lv V B N. rewrite NR in S2. unfold near_ok in N. rewrite NR in N. destruct N as [X N]. destruct (box_entry _ _ _ _ _ B NX) as (O & _ & _).
      assert (PO : plus_of s v = added (extras r) (each_ r) v v) by (unfold plus_of; now rewrite NR). rewrite PO. destruct (Rlt_dec (entry x v) (vd c)) as [LT|GE].
      * assert (G3 := G1 ltac:(split; auto) v Lv V). apply G3. { eapply updz_box; eauto. intros _. apply cap_ok; auto. lra. } split; [exact X|]. constructor; auto.
      * assert (G3 := G2 ltac:(split; cbn [near price]; try rewrite NR; auto) v Lv V). unfold plus_of, near_ok in G3. cbn [near price box] in G3. apply G3; auto. eapply updz_box; eauto. intros _. apply lift_ok; auto. lra.
    + destruct (nthz x (box s)) as [e|] eqn:NX; [|discriminate]. destruct (high e) as [[h q]|] eqn:HI; [|discriminate]. destruct (Z.leb_spec D (low e)) as [LO|]; [|discriminate]. apply Two in H. destruct H as [G1 G2]. intros SS v Lv V B N.
      destruct (settled_ok pb s v SS Lv V B N) as [LS ST]. eapply Rle_trans; [|exact ST]. destruct (box_entry _ _ _ _ _ B NX) as (O & X0 & NV). pose proof O as (O1 & O2 & O3 & O4). rewrite HI in O4. destruct O4 as [O4 O5].
      destruct (updz_split v x (entry x v) NV) as (l1 & l2 & EV & UV). apply vd_mono in LO. rewrite vdD in LO. pose proof V as V2. rewrite EV in V2. apply Forall_app in V2. destruct V2 as [V3 V4]. inversion V4 as [|? ? V5 V6]; subst.
      pose proof (earned_ends pb E' (settled s) (vd (low e)) (vd h) l1 l2 (entry x v) FM HE' LO ltac:(rewrite <- EV; auto) V3 V6 ltac:(lra)) as EE. cbv zeta in EE. rewrite <- EV in EE.
      assert (K : forall c pc, phi kd (vd c) <= IZR pc * d * d -> (0 <= c)%Z -> 1 <= vd c -> good_m (One (Single (settled s) (updz x (fun _ => Ent c pc (Some (c, pc))) (box s)) None)) ->
        IZR E' * earned pb (l1 ++ vd c :: l2) - dot (settled s) (l1 ++ vd c :: l2) <= 0).
      { intros c pc PC C0 C1 GG. simpl in GG. unfold good_single, plus_of, near_ok, sound_single in GG. cbn [near price box] in GG. rewrite <- UV.
        assert (J : IZR E' * earned pb (updz x (fun _ => vd c) v) <= dot (settled s) (updz x (fun _ => vd c) v) + 0); [|lra]. apply GG; auto.
        - rewrite len_updz. auto. - rewrite UV. apply Forall_app. split; auto.
        - clear - B PC C0 X0. revert x X0. induction B as [|e0 y b0 v0 HE0 B IH]; intros x X0; simpl; constructor || (destruct (Z.eqb_spec x 0)). all: try (constructor; auto). + repeat split; simpl; auto; lra. + apply IH. lia. }
      assert (M : Rmax (IZR E' * earned pb (l1 ++ vd (low e) :: l2) - dot (settled s) (l1 ++ vd (low e) :: l2)) (IZR E' * earned pb (l1 ++ vd h :: l2) - dot (settled s) (l1 ++ vd h :: l2)) <= 0); [|lra].
      apply Rmax_lub. apply (K (low e) (plow e)); auto. apply (K h q); auto. { destruct (Z.le_gt_cases 0 h) as [|N0]; auto. assert (N1 : (h < 0)%Z) by lia. apply vd_lt in N1. unfold vd at 2 in N1. lra. } lra.
    + destruct (single_leaf _ s ts m0) eqn:SL; [|discriminate]. simpl. eapply single_leaf_ok; eauto.
  - destruct (step (cenv mt) tk st) as [l'|] eqn:SP; [|discriminate]. apply Some_inj in H. subst l. cbn [cenv mat_of] in SP. simpl. eapply step_ok; [apply corner_env_ok; eauto|exact SP|]. rewrite Forall_map in GL. exact GL.
Qed.
End Whole.

(* ---- how a proof begins ---- *)
Lemma mat_run_ok (good_ : mstate -> Prop) mt : (forall tok st l, mstep mt tok st = Some l -> Forall good_ l -> good_ st) ->
  forall toks stack, mat_run mt toks stack = true -> Forall good_ stack.
Proof.
  intros K. induction toks as [|tok toks IH]; intros [|st stack] H; simpl in H; try discriminate; auto. destruct (mstep mt tok st) as [l|] eqn:S; [|discriminate].
  apply IH in H. apply Forall_app in H. destruct H. constructor; auto. eapply K; eauto.
Qed.
Lemma unit_box pb r G q : column pb q -> base pb = Complete r -> at_least r G D = true -> (D <= G)%Z -> exists v, shape pb G q v.
Proof.
  intros (Lq & Nq & Iq & _) HB A HG. rewrite HB in Iq. simpl in Iq. apply at_least_ok in A. destruct A as (_ & _ & A). fold DR in A. unfold Rdiv in A. fold (vd G) in A. apply vd_mono in HG. rewrite vdD in HG.
  destruct q as [|y0 q0]. { exists []. split; auto. } set (q := y0 :: q0) in *. destruct (least q ltac:(discriminate)) as (i & Hi & K). set (s := nth i q 0) in *.
  pose proof Nq as NN. rewrite Forall_forall in NN. assert (s0 : 0 <= s) by (apply NN, nth_In; auto). destruct s0 as [s0|s0].
  - exists (scale (/ s) q). assert (s1 : 0 < / s) by (now apply Rinv_0_lt_compat). split; [now rewrite len_scaleR|]. right. exists s. split; auto. split.
    { unfold scale. rewrite map_map. rewrite <- (map_id q) at 1. apply map_ext. intros y. rewrite <- Rmult_assoc, Rinv_r by lra. ring. }
    split.
    + apply all_nth. intros j Hj. rewrite len_scaleR in Hj. rewrite nth_scale. split.
      * apply (Rmult_le_reg_l s); auto. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra. apply K; auto.
      * apply (Rmult_le_reg_l s); auto. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. destruct (Nat.eq_dec j i) as [->|N]. { fold s. nra. }
        specialize (Iq j i ltac:(lia) ltac:(lia) N). fold s in Iq. nra.
    + apply Exists_exists. exists (nth i (scale (/ s) q) 0). split. { apply nth_In. rewrite len_scaleR; auto. } rewrite nth_scale. fold s. rewrite Rinv_l; lra.
  - exists q. split; auto. left. apply all_nth. intros j Hj. specialize (K j Hj). pose proof (NN _ (nth_In q 0 Hj)). destruct (Nat.eq_dec j i) as [->|N]. { fold s. auto. }
    specialize (Iq j i ltac:(lia) ltac:(lia) N). fold s in Iq. rewrite <- s0 in Iq. lra.
Qed.
Lemma unit_boxes pb r G Q : Forall (column pb) Q -> base pb = Complete r -> at_least r G D = true -> (D <= G)%Z -> exists QV, map fst QV = Q /\ Forall (fun qv => shape pb G (fst qv) (snd qv)) QV.
Proof.
  intros H HB A HG. induction H as [|q Q Hq H (QV & E & S)]. { exists []. auto. } destruct (unit_box pb r G q Hq HB A HG) as (v & V). exists ((q, v) :: QV). simpl. rewrite E. auto.
Qed.
Lemma common_sum k t (a c : list Z) y : forall Q i, (0 <= i)%Z -> Forall (fun q => length q = length a) Q -> (forall z, (i <= z < i + Z.of_nat (length Q))%Z -> merge (z * k) t a = if (z =? y)%Z then c else zeros a) ->
  (0 <= y)%Z -> (y < i + Z.of_nat (length Q))%Z -> total (dot a) Q + mdot k i t Q = if (i <=? y)%Z then dot c (nth (Z.to_nat (y - i)) Q []) else 0.
Proof.
  induction Q as [|q Q IH]; intros i Hi LQ H Hy Hm; cbn [total mdot length] in *. { destruct (Z.leb_spec i y); [lia|]. lra. }
  inversion LQ as [|? ? L1 L2]; subst. pose proof (H i ltac:(lia)) as M. assert (X : dot a q + tdot (i * k) t q = if (i =? y)%Z then dot c q else 0).
  { rewrite <- dot_merge by lia. rewrite M. destruct (i =? y)%Z; auto. apply dot_zeros. }
  destruct (Z.eq_dec i y) as [->|N].
  - rewrite Z.eqb_refl in X. rewrite Z.leb_refl, Z.sub_diag. simpl nth. assert (E0 : total (dot a) Q + mdot k (y + 1) t Q = 0); [|lra].
    clear - H L2. assert (K : forall z, (y + 1 <= z < y + 1 + Z.of_nat (length Q))%Z -> merge (z * k) t a = zeros a). { intros z Hz. rewrite H by lia. destruct (Z.eqb_spec z y); [lia|auto]. }
    clear H. revert K. generalize (y + 1)%Z. induction L2 as [|q Q L1 L2 IH]; intros j K; cbn [total mdot]; [lra|]. specialize (IH (j + 1)%Z ltac:(intros z Hz; apply K; cbn [length]; lia)).
    assert (X : dot a q + tdot (j * k) t q = 0). { rewrite <- dot_merge by lia. rewrite K by (cbn [length]; lia). apply dot_zeros. } lra.
  - apply Z.eqb_neq in N. rewrite N in X. apply Z.eqb_neq in N. specialize (IH (i + 1)%Z ltac:(lia) L2 ltac:(intros z Hz; apply H; lia) Hy ltac:(lia)).
    destruct (Z.leb_spec i y), (Z.leb_spec (i + 1) y); try lia. + replace (Z.to_nat (y - i)) with (S (Z.to_nat (y - (i + 1)))) by lia. simpl nth. lra. + lra.
Qed.
Lemma at_most_common_ok pb m y c a l R Q : formed pb -> outputs pb = Some m -> mechanism pb Q -> length a = length (weights pb) -> (0 <= y < m)%Z -> at_most_common pb m y c a l R = true ->
  dot c (nth (Z.to_nat y) Q []) <= IZR R.
Proof.
  unfold at_most_common. cbv zeta. intros FM OM HQ LA Hy H. destruct (add_rows _ 1 (rows pb) l Tip 0) as [[t b]|] eqn:R0; [|discriminate]. split_and H. apply Z.leb_le, IZR_le in H. rewrite plus_IZR in H.
  pose proof HQ as (HQ1 & _ & HM & HR). rewrite OM in HM.
  assert (LQ : Forall (fun q => Z.of_nat (length q) = zlen (weights pb)) Q). { eapply Forall_impl; [|exact HQ1]. intros q (L & _). rewrite zlen_len. lia. }
  pose proof (add_rows_ok _ 1 _ Q LQ ltac:(lia) _ _ _ _ _ _ (fR pb FM) HR R0) as I1. rewrite mdot_tip in I1. pose proof (sum_prices pb Q a HQ LA) as SP.
  assert (CS : total (dot a) Q + mdot (zlen (weights pb)) 0 t Q = dot c (nth (Z.to_nat y) Q [])).
  { rewrite (common_sum (zlen (weights pb)) t a c y Q 0); try lia.
    - destruct (Z.leb_spec 0 y); [|lia]. now rewrite Z.sub_0_r.
    - eapply Forall_impl; [|exact LQ]. simpl. intros q L. rewrite zlen_len in L. lia.
    - intros z Hz. rewrite forallb_forall in H0. specialize (H0 z (in_iota (fun z => z) (Z.to_nat m) 0%Z z ltac:(lia))). now apply same_eq in H0. }
  lra.
Qed.
Lemma split_at_len : forall W l p q, split_at W l = (p, q) -> alike p W = true -> length p = length W.
Proof. intros. now apply alike_len. Qed.
Lemma measured_ok pb m R Q : formed pb -> outputs pb = Some m -> mechanism pb Q -> forall ls y cs, measured pb m R y ls = Some cs -> (0 <= y)%Z -> (y + Z.of_nat (length cs) <= m)%Z ->
  Forall (Forall (Z.le 0)) cs /\ Forall (fun c => length c = length (weights pb)) cs /\ Forall2 (fun c q => dot c q = IZR R) cs (firstn (length cs) (skipn (Z.to_nat y) Q)).
Proof.
  intros FM OM HQ. pose proof HQ as (_ & _ & HM & _). rewrite OM in HM. induction ls as [|l ls IH]; cbn [measured]; intros y cs H Hy Hm. { apply Some_inj in H. subst. repeat split; constructor. }
  destruct (split_at (weights pb) l) as [c r]. destruct (split_at (weights pb) r) as [a l0].
  match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end. destruct (measured pb m R (y + 1) ls) as [s|] eqn:F; [|discriminate]. apply Some_inj in H. subst cs. cbn [length] in Hm.
  split_and C. apply alike_len in C, C3. apply nonneg_all in C2. apply (at_most_common_ok pb m y c a l0 R Q FM OM HQ C3 ltac:(lia)) in C1.
  apply (at_most_common_ok pb m y (zscale (-1) c) (zscale (-1) a) (zscale (-1) l0) (- R) Q FM OM HQ ltac:(rewrite len_scale; auto) ltac:(lia)) in C0.
  rewrite dot_scale, opp_IZR in C0. destruct (IH _ _ F ltac:(lia) ltac:(lia)) as (A1 & A2 & A3). repeat split; try (constructor; auto).
  destruct (skipn (Z.to_nat y) Q) as [|q Q'] eqn:SK. { exfalso. assert (L : length (skipn (Z.to_nat y) Q) = 0%nat) by (now rewrite SK). rewrite skipn_length in L. lia. }
  destruct (skip_next Q y q Q' Hy SK) as [NQ NS]. cbn [firstn length]. rewrite NQ in *. rewrite NS in A3. constructor; auto. lra.
Qed.
Lemma best_in : forall l, l <> [] -> In (best l) l.
Proof.
  induction l as [|a l IH]; [congruence|]. intros _. destruct l as [|b l]. { now left. } change (In (Rmax a (best (b :: l))) (a :: b :: l)). unfold Rmax. destruct (Rle_dec a _); [right; apply IH; discriminate|now left].
Qed.
Lemma aimed_ok mo N M hs pb a b den cost cl Q : aimed mo (N, M) hs = Some (pb, (a, b), (den, cost), cl) -> obeys mo Q -> exists Q', mechanism pb Q' /\ (formed pb -> forallb (term_ok (zlen (weights pb)) (count pb)) cost = true) /\
  (IZR a / IZR b * worth pb Q' + form cost Q' / IZR den <= IZR (fst cl) / IZR (snd cl) -> nets_at_most mo Q (IZR N / IZR M)).
Proof.
  unfold aimed. cbv zeta. intros H O. destruct (parts mo) as [|[u ab] [|]] eqn:PA; try discriminate.
  - destruct (reduce mo (N, M) hs) as [[co [N' M']]|] eqn:E; [|discriminate]. destruct (loss co) eqn:LO; [discriminate|]. destruct (bonus (inner co)) eqn:BO; [|discriminate]. apply Some_inj in H. injection H as <- <- <- <- <- <-.
    destruct (reduce_ok _ _ _ _ _ _ _ _ E O) as (Q' & [[F1 F2] F3] & B). exists Q'. split; auto. split; auto. intros K. apply B. unfold nets. rewrite LO, earns_plain by auto. unfold form in K. simpl in K. unfold Rdiv in *. rewrite !Rinv_1 in K. lra.
  - destruct (loss (middle mo)) eqn:LO; [discriminate|]. destruct (bonus (inner (middle mo))) eqn:BO; [|discriminate]. destruct (objective (plain (inner (middle mo)))) as [dn cst| | |] eqn:OB; try discriminate.
    match type of H with (if ?x then _ else _) = _ => destruct x eqn:C; [|discriminate] end. apply Some_inj in H. injection H as <- -> <- <- <-. split_and C. apply negb_true_iff in C. apply well_formed_ok in C1. apply alike_len in C0.
    destruct O as ([[(HQ1 & HQ2 & HQ3 & HQ4) F2] F3] & _). exists Q. split.
    { unfold mechanism, column. cbn [weights base halfspaces outputs rows]. rewrite C0. split; auto. eapply Forall_impl; [|exact HQ1]. intros q (A1 & A2 & A3 & _). repeat split; auto. }
    split. { intros _. cbn [weights outputs]. pose proof (fO _ C1) as FO. rewrite OB in FO. destruct FO as (_ & _ & FO). unfold count. cbn [outputs]. rewrite !zlen_len in *. rewrite C0. exact FO. }
    intros K. unfold nets_at_most. rewrite C. unfold nets. rewrite LO, earns_plain by auto. rewrite PA. unfold shares_of. cbn [total fst snd]. unfold quotient, worth at 1. rewrite OB. cbn [fst snd] in K |- *. unfold measure. unfold worth in K |- *. cbn [weights objective] in K |- *. lra.
Qed.
Definition cornered mo cl hs E ratios R ms toks : bool := match mat_start mo cl hs E ratios R ms with Some (mt, stack) => mat_run mt toks stack | None => false end.
Theorem cornered_sound mo N M hs E ratios R ms toks : cornered mo (N, M) hs E ratios R ms toks = true -> forall Q, obeys mo Q -> nets_at_most mo Q (IZR N / IZR M).
Proof.
  unfold cornered, mat_start. intros H Q0 O. destruct (aimed mo (N, M) hs) as [[[[pb [a b]] [den cost]] cl]|] eqn:AI; [|discriminate]. cbv zeta in H.
  destruct (aimed_ok _ _ _ _ _ _ _ _ _ _ _ AI O) as (Q & HQ & HC & GOAL). apply GOAL. clear GOAL AI O. destruct (outputs pb) as [m|] eqn:OM; [|discriminate]. destruct (base pb) as [|r| |] eqn:BA; try discriminate.
  destruct ratios as [|[G h] [|]]; try discriminate. destruct (phi_up (kind_of pb) D) as [p1|] eqn:P1; [|discriminate]. destruct (phi_up (kind_of pb) G) as [p|] eqn:P0; [|discriminate]. destruct (measured pb m R 0 ms) as [cs|] eqn:ME; [|discriminate].
  match type of H with match (if ?x then _ else _) with _ => _ end = _ => destruct x eqn:C; [|discriminate] end. apply andb_prop in C. destruct C as [C CM]. apply andb_prop in C. destruct C as [C CO]. split_and C.
  apply well_formed_ok in C. apply Z.ltb_lt in C4, C5, C6, C7, C8. apply Z.leb_le in C0, C3. apply Z.eqb_eq in C1. subst h. specialize (HC C).
  pose proof HQ as (HQ1 & _ & HM & _). rewrite OM in HM. destruct (unit_boxes pb r G Q HQ1 BA C2 C0) as (QV & EQ & SH).
  assert (E0 : (0 < a * den * E)%Z) by nia. assert (BD : (0 < b * den)%Z) by nia.
  assert (MS : Forall (Forall (Z.le 0)) cs /\ Forall (fun c => length c = length (weights pb)) cs /\ (cs = [] \/ Forall2 (fun c q => dot c q = IZR R) cs (map fst QV))).
  { destruct cs as [|c0 cs0]. { repeat split; auto. } apply Z.eqb_eq in CM. rewrite zlen_len in CM. destruct (measured_ok pb m R Q C OM HQ _ _ _ ME ltac:(lia) ltac:(lia)) as (A1 & A2 & A3). repeat split; auto. right.
    rewrite EQ. simpl skipn in A3. rewrite firstn_all2 in A3; [exact A3|lia]. }
  rewrite <- EQ in HQ. assert (LV : length QV = Z.to_nat m) by (rewrite <- HM, <- EQ, map_length; lia).
  pose proof (mat_run_ok _ _ (fun tok st l => mstep_ok pb (a * den * E) E b den cost G p p1 R cl cs C E0 C8 C7 BD C0 P1 P0 QV HQ HC SH MS tok st l C3) toks _ H) as GG. apply Forall_inv in GG. rename GG into G1. clear H.
  simpl in G1. assert (RE : reached pb (a * den * E) E b den cost cl QV).
  { apply G1; clear G1.
    - unfold numbers. rewrite <- LV. generalize 0%Z. clear - SH P1 P0 C0. induction SH as [|qv QV [Lv S] SH IH]; intros i; cbn [length iota]; constructor; auto. unfold in_box. destruct S as [Z0|(s & _ & _ & V & _)]; auto. right.
      apply phi_up_ok in P1, P0. destruct P1 as [P1' _]. destruct P0 as [P0' _]. revert V Lv. generalize (snd qv) (weights pb). clear - P1' P0'. induction l as [|y v IH]; intros [|w W] V L; try discriminate; constructor.
      + inversion V; subst. repeat split; simpl; auto; try tauto. pose proof D_pos. lia. rewrite vdD. tauto.
      + apply IH; [inversion V; auto|simpl in L; lia].
    - match goal with |- Forall2 _ (numbers _ (fun _ => ?l)) _ => set (ac := l) end. assert (BO : forall q, best_of pb ac q); [|clearbody ac; unfold numbers; rewrite <- LV; generalize 0%Z; clear - BO; induction QV; intros i; cbn [length iota]; constructor; auto].
      intros q. subst ac. unfold best_of, gains_of. pose proof (fO pb C) as FO. destruct (objective pb) as [|dn gs| |]; auto. destruct FO as (_ & GN & _).
      pose proof (best_in (map (fun g => dot (products (weights pb) g) q) gs)) as BI. destruct (in_map_iff (fun g => dot (products (weights pb) g) q) gs (best (map (fun g => dot (products (weights pb) g) q) gs))) as [IM _].
      destruct IM as (g & Eg & Ig). { apply BI. destruct gs; [congruence|discriminate]. } destruct (In_nth gs g [] Ig) as (j & J & NJ). exists (Z.of_nat j), g. split; [|split].
      + pose proof (in_iota (fun x => x) (Z.to_nat (zlen gs)) 0%Z (Z.of_nat j)) as II. apply II. rewrite zlen_len. lia.
      + destruct (nthz_some gs (Z.of_nat j) ltac:(lia)) as (g' & NT). rewrite NT. apply (nthz_nth []) in NT. rewrite Nat2Z.id in NT. congruence.
      + symmetry. exact Eg.
    - constructor. }
  unfold reached in RE. rewrite EQ in RE. pose proof (fT pb C) as HT. apply IZR_lt in HT, C4, C5, C6, C7, C8. rewrite !mult_IZR in RE. set (T := IZR (zsum (weights pb))) in *.
  assert (WO : worth pb Q = total (worth1 pb) Q / T).
  { clear - CO C4 C HT. unfold worth1, gains_of, gains_den. destruct (objective pb) as [dn cst|dn gs|gs|] eqn:OB; [discriminate| | |].
    - unfold worth. rewrite OB. fold T. pose proof (fO pb C) as FO. rewrite OB in FO. destruct FO as (DN & _). apply IZR_lt in DN.
      assert (TD : total (fun q => best (map (fun g => dot (products (weights pb) g) q) gs) / IZR dn) Q = total (fun q => best (map (fun g => dot (products (weights pb) g) q) gs)) Q / IZR dn).
      { clear - DN. induction Q as [|q Q IH]; simpl. { unfold Rdiv. lra. } rewrite IH. unfold Rdiv. ring. } rewrite TD. field. unfold T in *. lra.
    - apply worth_earned. unfold kind_of. rewrite OB. discriminate. - apply worth_earned. unfold kind_of. rewrite OB. discriminate. }
  rewrite WO. set (X := total (worth1 pb) Q) in *. set (F := form cost Q) in *. set (B := IZR (fst cl) / IZR (snd cl)) in *.
  apply (Rmult_le_reg_l (T * IZR b * IZR den * IZR E)). { repeat apply Rmult_lt_0_compat; auto. }
  replace (T * IZR b * IZR den * IZR E * (IZR a / IZR b * (X / T) + F / IZR den)) with (IZR a * IZR den * IZR E * X + T * (IZR b * IZR E * F)) by (field; repeat split; lra). lra.
Qed.
