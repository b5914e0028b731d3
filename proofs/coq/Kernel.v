(* The checker: a function on a problem, a claim and a proof. Everything that it computes is an integer, a list or a trie of
   integers; indices are integers that [nthz] and [find] compare with what is there. *)
Require Import ZArith List Bool.
Require Import Problem Convex Log.
Import ListNotations.
Open Scope Z_scope.

(* ---- lists and tries by integer index; an index outside finds nothing ---- *)
Fixpoint nthz {A} (i : Z) (l : list A) : option A :=
  match l with [] => None | a :: l => if i =? 0 then Some a else nthz (i - 1) l end.
Fixpoint updz {A} (i : Z) (f : A -> A) (l : list A) : list A :=
  match l with [] => [] | a :: l => if i =? 0 then f a :: l else a :: updz (i - 1) f l end.
Fixpoint zlen {A} (l : list A) : Z := match l with [] => 0 | _ :: l => 1 + zlen l end.
Fixpoint alike {A B} (a : list A) (b : list B) : bool :=
  match a, b with [], [] => true | _ :: a, _ :: b => alike a b | _, _ => false end.
Inductive trie (A : Type) := Tip | Node (l : trie A) (a : option A) (r : trie A).
Arguments Tip {A}. Arguments Node {A}.
Fixpoint get {A} (p : positive) (t : trie A) : option A := match t with Tip => None | Node l a r =>
  match p with xH => a | xO p => get p l | xI p => get p r end end.
Fixpoint set {A} (p : positive) (a : A) (t : trie A) : trie A := match p, t with
  | xH, Tip => Node Tip (Some a) Tip | xH, Node l _ r => Node l (Some a) r
  | xO p, Tip => Node (set p a Tip) None Tip | xO p, Node l b r => Node (set p a l) b r
  | xI p, Tip => Node Tip None (set p a Tip) | xI p, Node l b r => Node l b (set p a r) end.
Definition find {A} (i : Z) (t : trie A) : option A := match i + 1 with Zpos p => get p t | _ => None end.
Definition put {A} (i : Z) (a : A) (t : trie A) : trie A := match i + 1 with Zpos p => set p a t | _ => t end.
Fixpoint number {A} (i : Z) (l : list A) (t : trie A) : trie A := match l with [] => t | a :: l => number (i + 1) l (put i a t) end.
Definition amount (i : Z) (t : trie Z) : Z := match find i t with Some c => c | None => 0 end.
Definition bump (i c : Z) (t : trie Z) : trie Z := put i (amount i t + c) t.
(* A list plus the numbers of a trie from i on. *)
Fixpoint merge (i : Z) (t : trie Z) (q : list Z) : list Z := match q with [] => [] | s :: q => (s + amount i t) :: merge (i + 1) t q end.
Definition zscale (c : Z) (q : list Z) := map (Z.mul c) q.
Fixpoint zplus (a b : list Z) : list Z := match a, b with x :: a, y :: b => (x + y) :: zplus a b | _, _ => [] end.
Definition zeros {A} (l : list A) : list Z := map (fun _ => 0) l.
Definition ceil (a b : Z) := a / b + 1.

(* ---- ratios: g / h with h > 0 that is at least, or at most, a ratio ---- *)
Definition at_least (r : ratio) (g h : Z) : bool := (0 <? h) && (0 <=? g) && match r with
  | Exp a b => (0 <? b) && match log_below g h with Some l => a * D <=? b * l | None => false end
  | Frac a b => (0 <? b) && (a * h <=? g * b) end.
Definition at_most (r : ratio) (g h : Z) : bool := (0 <? h) && (0 <=? g) && match r with
  | Exp a b => (0 <? b) && match log_above g h with Some u => b * u <=? a * D | None => false end
  | Frac a b => (0 <? b) && (g * b <=? a * h) end.
Definition edge := (Z * Z * Z * Z)%type.        (* x, z, g, h: h v_x <= g v_z *)
Inductive table := NoEdges | Pairs (k g h : Z) | Listed (t : trie edge).
Definition edge_at (t : table) (e : Z) : option edge := match t with
  | NoEdges => None
  | Pairs k g h => let x := e / k in let z := e mod k in
      if (0 <? k) && (0 <=? x) && (x <? k) && negb (x =? z) then Some (x, z, g, h) else None
  | Listed t => find e t end.
Fixpoint join (ok : ratio -> Z -> Z -> bool) (k : Z) (es : list (Z * Z * ratio)) (gs : list (Z * Z)) : option (list edge) :=
  match es, gs with [], [] => Some []
  | (x, z, r) :: es, (g, h) :: gs => if ok r g h && (0 <=? x) && (x <? k) && (0 <=? z) && (z <? k)
      then match join ok k es gs with Some l => Some ((x, z, g, h) :: l) | None => None end else None
  | _, _ => None end.
Definition edges_of k c gs : option table := match c with
  | Free | Robust _ _ _ _ => match gs with [] => Some NoEdges | _ => None end
  | Complete r => match gs with [(g, h)] => if at_least r g h then Some (Pairs k g h) else None | _ => None end
  | Graph es => match join at_least k es gs with Some l => Some (Listed (number 0 l Tip)) | None => None end end.

(* ---- the state of a path ---- *)
(* Limits of an entry over D, each with an upper end of phi there over D^2; an upper limit may be absent. *)
Record ent := Ent { low : Z; plow : Z; high : option (Z * Z) }.
Record col := Col { ents : list ent; lims : list (Z * Z) }.    (* lims: limits over D of the forms *)
Record state := State { own : list Z; cols : list col }.       (* own: what one column pays, times T E *)
Record mult := Mult { flows : list (Z * Z); against : list (Z * Z); along : list Z }.
Inductive token :=
  | Split (y x c : Z) | Fix (x : Z) | Form (i n : Z) | EdgeUp (y e : Z) | EdgeLow (y e : Z)
  | Up (y x c : Z) (m : mult) | Low (y x c : Z) (m : mult)
  | Leaf (ts : list Z) (m : mult) | Sheet (prices mults : list Z) (parts : list (list Z * mult)) | Closed (y x : Z).

Definition phi_up (kd : kind) (c : Z) : option Z := if c <? 0 then None else match kd with
  | Plain => Some 0 | Square => Some (c * c)
  | Entropic => if c =? 0 then Some 0 else match log_above c D with Some u => Some (c * u) | None => None end end.

(* What is fixed while tokens are read. *)
Record env := Env {
  knd : kind; unit_ : Z; total_ : Z; wts : list Z; groups : list (list Z); corner : option (Z * Z); edges : table;
  halfs : list (list Z); forms : list (list Z); couplings : list row; claim : Z * Z; sheets : bool }.

Fixpoint endsum (V q : list Z) (b : list ent) : option Z := match V, q, b with
  | w :: V, s :: q, e :: b => match endsum V q b with None => None | Some r =>
      let first := w * plow e * D + s * low e in
      match high e with
      | Some (h, ph) => Some (Z.max first (w * ph * D + s * h) + r)
      | None => if (w =? 0) && (s <=? 0) then Some (first + r) else None end end
  | _, _, _ => Some 0 end.
Fixpoint add_flows (es : table) (l : list (Z * Z)) (t : trie Z) : option (trie Z) := match l with [] => Some t
  | (e, f) :: l => match edge_at es e with None => None | Some (x, z, g, h) =>
      if 0 <=? f then add_flows es l (bump z (f * g) (bump x (- (f * h)) t)) else None end end.
Fixpoint add_halfs (hs : list (list Z)) (l : list (Z * Z)) (q : list Z) : option (list Z) := match l with [] => Some q
  | (i, u) :: l => match nthz i hs with None => None | Some c =>
      if 0 <=? u then add_halfs hs l (zplus q (zscale (- u) c)) else None end end.
Fixpoint add_forms (fs : list (list Z)) (ls : list (Z * Z)) (ms : list Z) (q : list Z) (c : Z) : list Z * Z :=
  match fs, ls, ms with
  | f :: fs, (a, b) :: ls, m :: ms =>
      add_forms fs ls ms (zplus q (zscale (- (m * D)) f)) (c + m * (if 0 <=? m then b else a))
  | _, _, _ => (q, c) end.
(* At least D^3 (V.phi(v) + q.v / D^2 + c0 / D^3) for every v of the cone in the column's state. *)
Definition upper (en : env) (c : col) (V q : list Z) (c0 : Z) (m : mult) : option Z :=
  match add_flows (edges en) (flows m) Tip with None => None | Some t =>
  match add_halfs (halfs en) (against m) (merge 0 t q) with None => None | Some q =>
  let (q, c1) := add_forms (forms en) (lims c) (along m) q 0 in
  match endsum V q (ents c) with None => None | Some r => Some (c0 + c1 * D + r) end end end.
Definition not_above (o : option Z) : bool := match o with Some u => u <=? 0 | None => false end.

(* sum over z of G_z (D + l_z), and of T_z t_z, with l_z <= D log (t_z / D) *)
Fixpoint tangents (gs : list (list Z)) (ts : list Z) (q : list Z) (c : Z) : option (list Z * Z) := match gs, ts with
  | [], [] => Some (q, c)
  | G :: gs, t :: ts => match log_below t D with
      | Some l => tangents gs ts (zplus q (zscale (D + l) G)) (c + zsum G * t) | None => None end
  | _, _ => None end.
(* What a leaf has to show at most 0: V, q, c0 for [upper]. *)
Definition burden (en : env) (own : list Z) (ts : list Z) : option (list Z * list Z * Z) :=
  let E := unit_ en in let T := total_ en in let q := zscale (- (D * D)) own in match knd en with
  | Plain => match ts with [] => Some (zeros own, q, 0) | _ => None end
  | Entropic => match tangents (groups en) ts (zeros own) 0 with
      | Some (R, c) => Some (zscale E (wts en), zplus q (zscale (- (E * D)) R), E * D * D * c) | None => None end
  | Square => match corner en, ts with
      | None, [] => Some (zscale E (wts en), q, - (E * T * D * D * D))
      | Some (G, _), [r] => Some (zeros own, zplus q (zscale (E * (ceil (G * (r * r)) D - D * D)) (wts en)),
                                  E * T * (D * D * D + G * D * D - 2 * G * r * D))
      | _, _ => None end end.
Definition leaf (en : env) (own : list Z) (c : col) (ts : list Z) (m : mult) : bool := match burden en own ts with
  | Some (V, q, c0) => not_above (upper en c V q c0 m) | None => false end.

(* ---- rows: multipliers, the numbers that they put on cell (x, y) at y k + x, and their right sides ---- *)
Fixpoint add_terms (k c : Z) (ts : terms) (t : trie Z) : trie Z := match ts with [] => t
  | (x, y, a) :: ts => add_terms k c ts (bump (y * k + x) (c * a) t) end.
Fixpoint add_rows (k c : Z) (rs : list row) (ls : list Z) (t : trie Z) (b : Z) : option (trie Z * Z) := match rs, ls with
  | [], [] => Some (t, b)
  | r :: rs, l :: ls => if equal r || (0 <=? l) then
      add_rows k c rs ls (if l =? 0 then t else add_terms k (c * l) (coefficients r) t) (b + l * right r) else None
  | _, _ => None end.
Definition pays (cl : Z * Z) (E sum : Z) : bool := sum * snd cl <=? fst cl * E.

Fixpoint sheet (en : env) (k y : Z) (A : list Z) (t : trie Z) (cs : list col) (parts : list (list Z * mult)) : bool :=
  match cs, parts with
  | [], [] => true
  | c :: cs, (ts, m) :: parts => leaf en (zscale (total_ en) (merge (y * k) t A)) c ts m && sheet en k (y + 1) A t cs parts
  | _, _ => false end.

Definition set_high x h p (c : col) := Col (updz x (fun e => Ent (low e) (plow e) (Some (h, p))) (ents c)) (lims c).
Definition set_low x l p (c : col) := Col (updz x (fun e => Ent l p (high e)) (ents c)) (lims c).
Definition set_ent x e (c : col) := Col (updz x (fun _ => e) (ents c)) (lims c).
Definition set_lims i f (c : col) := Col (ents c) (updz i f (lims c)).
Definition with_col y f (st : state) := State (own st) (updz y f (cols st)).
Definition ent_at st y x : option ent := match nthz y (cols st) with Some c => nthz x (ents c) | None => None end.
Definition unit_at (n : Z) (x : Z) (q : list Z) : list Z := updz x (fun s => s + n) q.

Definition step (en : env) (tok : token) (st : state) : option (list state) := match tok with
  | Split y x c => match ent_at st y x, phi_up (knd en) c with
      | Some _, Some p => Some [with_col y (set_high x c p) st; with_col y (set_low x c p) st] | _, _ => None end
  | Fix x => match corner en, ent_at st 0 x, phi_up (knd en) D with
      | Some (G, p), Some _, Some p1 =>
          Some [with_col 0 (set_ent x (Ent G p (Some (G, p)))) st; with_col 0 (set_ent x (Ent D p1 (Some (D, p1)))) st]
      | _, _, _ => None end
  | Form i n => match corner en, nthz i (forms en) with
      | Some (G, _), Some f => let edge n := zsum f * D + (G - D) * n in
          Some [with_col 0 (set_lims i (fun ab => (fst ab, edge n))) st; with_col 0 (set_lims i (fun ab => (edge (n + 1), snd ab))) st]
      | _, _ => None end
  | EdgeUp y e => match edge_at (edges en) e with None => None | Some (x, z, g, h) =>
      match ent_at st y x, ent_at st y z with
      | Some _, Some e => match high e with None => None | Some (c, _) =>
          let c := ceil (g * c) h in
          match phi_up (knd en) c with Some p => Some [with_col y (set_high x c p) st] | None => None end end
      | _, _ => None end end
  | EdgeLow y e => match edge_at (edges en) e with None => None | Some (x, z, g, h) =>
      match ent_at st y x, ent_at st y z with
      | Some e, Some _ => if 0 <? g then let c := low e * h / g in
          match phi_up (knd en) c with Some p => Some [with_col y (set_low z c p) st] | None => None end else None
      | _, _ => None end end
  | Up y x c m => match nthz y (cols st), ent_at st y x, phi_up (knd en) c with
      | Some cl, Some _, Some p => let O := zeros (wts en) in
          if not_above (upper en cl O (unit_at (D * D) x O) (- (c * D * D)) m) then Some [with_col y (set_high x c p) st] else None
      | _, _, _ => None end
  | Low y x c m => match nthz y (cols st), ent_at st y x, phi_up (knd en) c with
      | Some cl, Some _, Some p => let O := zeros (wts en) in
          if not_above (upper en cl O (unit_at (- (D * D)) x O) (c * D * D) m) then Some [with_col y (set_low x c p) st] else None
      | _, _, _ => None end
  | Leaf ts m => if sheets en then None else match cols st with
      | [c] => if leaf en (own st) c ts m then Some [] else None | _ => None end
  | Sheet A ls parts => if negb (sheets en) then None else
      let k := zlen (wts en) in match add_rows k 1 (couplings en) ls Tip 0 with
      | Some (t, b) => if alike A (wts en) && pays (claim en) (unit_ en) (zsum A + b) && sheet en k 0 A t (cols st) parts
          then Some [] else None
      | None => None end
  | Closed y x => match ent_at st y x with
      | Some e => match high e with Some (h, _) => if h <? low e then Some [] else None | None => None end | None => None end
  end.
(* One token: the first open state gives way to its children. *)
Definition advance (en : env) (tok : token) (stack : list state) : option (list state) := match stack with
  | st :: stack => match step en tok st with Some l => Some (l ++ stack) | None => None end | [] => None end.
Fixpoint run (en : env) (toks : list token) (stack : list state) : bool := match toks with
  | [] => match stack with [] => true | _ => false end
  | tok :: toks => match advance en tok stack with Some stack => run en toks stack | None => false end end.

(* ---- how a proof begins ---- *)
Inductive mode := Dual | Corner | Box | Sheets | Known.
Record header := Header { mod_ : mode; eunit : Z; prices : list Z; mults : list Z; pairs : list (Z * Z) }.

Definition term_ok (k m : Z) (t : Z * Z * Z) := match t with (x, y, _) => (0 <=? x) && (x <? k) && (0 <=? y) && (y <? m) end.
Definition count pb := match outputs pb with Some m => m | None => 0 end.
Fixpoint same (a b : list Z) : bool := match a, b with [], [] => true | x :: a, y :: b => (x =? y) && same a b | _, _ => false end.
Definition nonnegative (l : list Z) := forallb (Z.leb 0) l.
Definition well_formed pb : bool := let W := weights pb in let k := zlen W in
  nonnegative W && (0 <? zsum W) && forallb (fun c => alike c W) (halfspaces pb) &&
  match outputs pb with Some m => 0 <? m | None => match rows pb with [] => true | _ => false end end &&
  forallb (fun r => forallb (term_ok k (count pb)) (coefficients r)) (rows pb) && match objective pb with
  | Linear den cost => (0 <? den) && match outputs pb with Some _ => true | None => false end && forallb (term_ok k (count pb)) cost
  | Bayes den gains => (0 <? den) && match gains with [] => false | _ => true end && forallb (fun g => alike g W) gains
  | Information gs => forallb (fun G => alike G W && nonnegative G) gs && same (fold_right zplus (zeros W) gs) W
  | ChiSquare => true end.

Fixpoint iota {A} (i : Z) (n : nat) (f : Z -> A) : list A := match n with O => [] | S n => f i :: iota (i + 1) n f end.
Definition numbers {A} (n : Z) (f : Z -> A) : list A := iota 0 (Z.to_nat n) f.

Fixpoint roots kd (T : Z) (W : list Z) : option (list ent) := match W with [] => Some []
  | w :: W => match roots kd T W with None => None | Some l =>
      if 0 <? w then let c := ceil (T * D) w in match phi_up kd c with Some p => Some (Ent 0 0 (Some (c, p)) :: l) | None => None end
      else Some (Ent 0 0 None :: l) end end.
(* The tests of dual mode: each list must have a product of at least 0 with every column (of that output, for Linear). *)
Definition tests pb hd : option (list (list Z)) := let W := weights pb in let T := zsum W in let k := zlen W in
  let E := eunit hd in let A := prices hd in match objective pb with
  | Linear den cost => match add_rows k den (rows pb) (mults hd) (add_terms k (- E) cost Tip) 0 with
      | Some (t, _) => Some (numbers (count pb) (fun y => merge (y * k) t (zscale den A))) | None => None end
  | Bayes den gains => match rows pb with
      | [] => Some (map (fun g => zplus (zscale (den * T) A) (zscale (- E) (products W g))) gains) | _ => None end
  | _ => None end.
Fixpoint entropy_prices (E T : Z) (W A : list Z) : bool := match W, A with
  | w :: W, a :: A => (if w =? 0 then 0 <=? a else match log_above T w with Some u => E * w * u <=? T * a * D | None => false end)
      && entropy_prices E T W A
  | _, _ => true end.

Definition start (pb : problem) (cl : Z * Z) (hd : header) : option (env * list state) :=
  let W := weights pb in let T := zsum W in let E := eunit hd in let k := zlen W in let A := prices hd in
  if negb (well_formed pb && (0 <? E) && (0 <? snd cl)) then None else
  match edges_of k (base pb) (pairs hd) with None => None | Some es =>
  match add_rows k 1 (rows pb) (match mod_ hd with Dual => mults hd | _ => map (fun _ => 0) (rows pb) end) Tip 0 with None => None | Some (_, b) =>
  if negb (match mod_ hd with Sheets => true | _ => alike A W && pays cl E (zsum A + b) end) then None else
  let gs := match objective pb with Information gs => gs | _ => [] end in
  let kd := match objective pb with Information _ => Some Entropic | ChiSquare => Some Square | _ => None end in
  let ones := map (fun _ => 1) W in
  let env kd forms sh := Env kd E T W gs None es (halfspaces pb) forms (rows pb) cl sh in
  let single := match gs with [G] => same G W | _ => false end in
  match mod_ hd, kd with
  | Dual, None => match tests pb hd with None => None | Some qs =>
      let root := match es with
        | Pairs _ g h => if h <=? g then Some (map (fun _ => Ent h 0 (Some (g, 0))) W) else None
        | _ => Some (map (fun _ => Ent 0 0 None) W) end in
      match root with None => None | Some r => Some (env Plain [] false, map (fun q => State q [Col r []]) qs) end end
  | Corner, Some kd => match es, phi_up kd D with
      | Pairs _ G h, Some p1 => if (h =? D) && (D <=? G) && match kd with Entropic => single | _ => true end then
          match phi_up kd G with None => None | Some p =>
          Some (Env kd E T W gs (Some (G, p)) NoEdges [] [W; ones] (rows pb) cl false,
                [State (zscale T A) [Col (map (fun _ => Ent D p1 (Some (G, p))) W) [(T * D, T * G); (k * D, k * G)]]]) end else None
      | _, _ => None end
  | Box, Some kd => match roots kd T W with None => None | Some r =>
      Some (env kd [W] false, [State (zscale T A) [Col r [(T * D, T * D)]]]) end
  | Sheets, Some kd => match roots kd T W, outputs pb with
      | Some r, Some m => if forallb (Z.ltb 0) W then
          Some (env kd [W] true, [State [] (numbers m (fun _ => Col r [(T * D, T * D)]))]) else None
      | _, _ => None end
  | Known, Some Entropic => if single && entropy_prices E T W A then Some (env Plain [] false, []) else None
  | _, _ => None end end end.

(* No mechanism of the problem is worth more than the claim. *)
Definition verify pb cl hd toks : bool := match start pb cl hd with Some (en, stack) => run en toks stack | None => false end.
(* There is no mechanism: the same problem with nothing to gain would have a negative bound. *)
Definition emptied pb := Problem (weights pb)
  (match outputs pb with Some _ => Linear 1 [] | None => Bayes 1 [zeros (weights pb)] end) (base pb) (halfspaces pb) (outputs pb) (rows pb).
Definition refute pb cl hd toks : bool := (fst cl <? 0) && verify (emptied pb) cl hd toks.
