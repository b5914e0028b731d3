(* rropt-core: reads a proof file (docs/verified-core.md), calls the verified functions of core.ml, prints the verdict.
   What is printed about the problem is printed from what was read. Exit status: 0 proved, 1 refuted, 2 unreadable. *)
module ZA = Z
open Core
exception Unreadable of int * string            (* column, what is wrong *)
let longest = 1 lsl 26 and digits = 39457       (* below 2^(2^17) *)

(* ---- fuel: operations as the kernel counts them, some 240 million a minute there; floats, as integers have 32 bits in JavaScript ---- *)
let fuel = ref 240e6
let spend amount words = fuel := !fuel -. amount *. words; if !fuel < 0. then raise (Unreadable (1, "needs more operations than are allowed"))
let len l = float (List.length l) and sum f l = List.fold_left (fun a x -> a +. f x) 0. l and log_cost = 150.
(* The operations before the first line of the tree: products of the sizes of lists. *)
let spend_before entire value k plain tests tangents around sums lifts touches =
  let forms one points = let logs, lists = (match one.aim with Bayes (_, l) -> 1., l | Information l -> log_cost, l | _ -> log_cost, []) in
    points *. k *. max (len lists) 1. *. logs in
  let limits = List.map fst entire.middle.limits in
  let functions = (match entire.middle.loss with None -> limits | Some one -> one :: limits) and halfspaces = len entire.middle.inner.plain.halfspaces in
  let rec both f a b = match a, b with x :: a, y :: b -> f x y +. both f a b | _ -> 0. in
  (match value with None -> () | Some (columns, moments) ->
    spend (sum (fun one -> forms one columns) (plain :: functions @ List.map fst entire.parts) +. k *. k *. columns *. len entire.excesses) 1.;
    spend (k *. columns *. (halfspaces +. log_cost *. (len entire.middle.inner.floors +. len entire.capacities +. 1.))) 1.;
    let pairs = (match entire.set_of with None -> 0. | Some set -> len set.blocks ** 2.) in
    spend (3. *. log_cost *. moments +. 8. *. k *. columns *. pairs) 1.);
  spend (both (fun one points -> forms one (len points)) functions touches) 1.;
  spend (both (fun (one, _) points -> forms one (len points +. 1.)) entire.parts sums) 1.;
  List.iter (fun (i, points) ->
    let own = if ZA.lt i ZA.zero || ZA.geq i (ZA.of_int (List.length limits)) then 0. else forms (List.nth limits (ZA.to_int i)) (len points) in
    spend (own +. k *. (k +. halfspaces +. len limits)) 1.) lifts;
  spend (log_cost *. k *. len entire.middle.inner.floors *. (sum len around +. len tangents)) 1.;
  spend (k *. tests) 1.

(* One step of a proof by rays, as the kernel counts it. *)
let spend_rays en token state =
  let pb = en.rproblem in let k = len pb.weights in
  let cut c rays =
    let up, down, longest = List.fold_left (fun (up, down, m) r -> let s = ZA.sign (zdot c r.at_) in
      (if s > 0 then up +. 1. else up), (if s < 0 then down +. 1. else down), List.fold_left (fun m v -> max m (ZA.numbits v)) m r.at_) (0., 0., 1) rays in
    spend (4. *. k *. len rays +. up *. down *. floor (len rays /. 3. +. 1.)) (float (1 + longest / 512)) in
  let count = (match pb.outputs with Some m when ZA.sign m > 0 -> float (ZA.to_int m) | _ -> 1.) in
  match token, state with
  | (Along _ | Beside _), (Everywhere rays | Lonely (_, rays)) -> (match known_limit en token with Some c -> cut c rays | None -> ())
  | Plane (y, c), _ when List.compare_lengths c pb.weights = 0 ->
      let both rays = cut c rays; cut c rays in
      (match state with
        | Lonely (_, rays) -> if ZA.sign y = 0 then both rays
        | Everywhere rays -> (match pb.outputs with Some m -> spend count 1.; if ZA.sign y >= 0 && ZA.lt y m then both rays | None -> ())
        | Each cells -> spend (len cells) 1.; (match nthz y cells with Some rays -> both rays | None -> ()))
  | Pay _, _ -> spend (k *. count +. sum (fun r -> len r.coefficients) pb.rows) 1.
  | Holds, Lonely (_, rays) ->
      let groups = (match pb.objective with Information l | Bayes (_, l) -> max (len l) 1. | _ -> 1.) in
      spend (k *. len rays *. groups *. (match pb.objective with Bayes _ -> 1. | _ -> log_cost)) 1.
  | _ -> ()

let spend_forms en token state = match token with
  | Cell t -> spend_rays en t state
  | Formed (_, _, fs, cs) ->
      let k = len en.rproblem.weights in
      let count = (match en.rproblem.outputs with Some m when ZA.sign m > 0 -> float (ZA.to_int m) | _ -> 1.) in
      let rays = (match state with Everywhere l -> count *. len l | Each l -> sum len l | Lonely _ -> 0.) in
      spend (30. *. k *. (count +. len fs +. len cs) +. sum (fun r -> len r.coefficients) en.rproblem.rows +. 2. *. k *. rays *. (len fs +. 2.)) 1.

(* ---- lines and fields ---- *)
let row_number = ref 0 and text = Buffer.create 4096
let chunk = Bytes.create 65536 and at = ref 0 and filled = ref 0      (* what was read, and is not in a line yet *)
let more ch = if !at = !filled then (at := 0; filled := input ch chunk 0 (Bytes.length chunk)); !filled > 0
let read_line ch =
  incr row_number; Buffer.clear text;
  let rec go () =
    if not (more ch) then raise (Unreadable (Buffer.length text + 1, "the file ends without the line end"));
    let stop = (match Bytes.index_from_opt chunk !at '\n' with Some i when i < !filled -> i | _ -> !filled) in
    Buffer.add_subbytes text chunk !at (stop - !at);
    if Buffer.length text > longest then raise (Unreadable (longest, "the line is longer than 64 MiB"));
    if stop = !filled then (at := stop; go ()) else (at := stop + 1; Buffer.contents text) in go ()
(* The integer of s that begins at index a, and the index behind it; off: what a column is more than an index. *)
let number s a off =
  let n = String.length s and wrong what = raise (Unreadable (a + off, what)) in let first = if a < n && s.[a] = '-' then a + 1 else a in
  let i = ref first and v = ref 0 in
  while !i < n && s.[!i] >= '0' && s.[!i] <= '9' do v := 10 * !v + Char.code s.[!i] - 48; incr i done;
  if !i = first || (!i < n && s.[!i] <> ' ') || (s.[first] = '0' && !i > a + 1) then wrong "expected an integer" else
  if !i - first > digits then wrong "the integer has too many digits" else
  (if !i - first < Sys.int_size * 3 / 10 then ZA.of_int (if first > a then - !v else !v) else ZA.of_substring s ~pos:a ~len:(!i - a)), !i
let integer (at, w) = fst (number w 0 at)
(* The fields of a line behind its first a characters, all of them integers. *)
let numbers s a = let rec go a l = if a = String.length s then List.rev l else let v, a = number s (a + 1) 1 in go a (v :: l) in go a []
let fields s =
  let rec go stop i l = if i < 0 then (1, String.sub s 0 stop) :: l
    else if s.[i] = ' ' then go i (i - 1) ((i + 2, String.sub s (i + 1) (stop - i - 1)) :: l) else go stop (i - 1) l in
  go (String.length s) (String.length s - 1) []
let integers = List.map integer
let stop l = raise (Unreadable ((match l with (at, _) :: _ -> at | [] -> 1), "unknown, missing or extra field"))
let rec steps l = function [] -> List.rev l | [a] -> stop [a] | a :: b :: r -> let a = integer a in steps ((a, integer b) :: l) r
let mult l =
  let rec go fl ag = function
    | (_, "F") :: e :: f :: r when ag = [] -> go ((integer e, integer f) :: fl) ag r
    | (_, "C") :: i :: u :: r -> go fl ((integer i, integer u) :: ag) r
    | (_, "M") :: (_ :: _ as r) -> { flows = List.rev fl; against = List.rev ag; along = integers r }
    | [] -> { flows = List.rev fl; against = List.rev ag; along = [] }
    | l -> stop l in go [] [] l
let rec points l = match l with
  | [] | (_, ("F" | "C" | "M")) :: _ -> [], mult l
  | a :: r -> let a = integer a in let ts, m = points r in a :: ts, m
let rec parts acc cur = function
  | [] -> List.rev (List.rev cur :: acc)
  | (_, ";") :: r -> parts (List.rev cur :: acc) [] r
  | a :: r -> parts acc (a :: cur) r
let token = function
  | [_, "s"; y; x; c] -> let y = integer y in let x = integer x in Split (y, x, integer c) | [_, "x"; x] -> Fix (integer x)
  | [_, "r"; i; n] -> let i = integer i in Form (i, integer n)
  | [_, "u"; y; e] -> let y = integer y in EdgeUp (y, integer e) | [_, "d"; y; e] -> let y = integer y in EdgeLow (y, integer e)
  | (_, "U") :: y :: x :: c :: m -> let y = integer y in let x = integer x in let c = integer c in Up (y, x, c, mult m)
  | (_, "L") :: y :: x :: c :: m -> let y = integer y in let x = integer x in let c = integer c in Low (y, x, c, mult m)
  | (_, "l") :: r -> let ts, m = points r in Leaf (ts, m)
  | (_, "S") :: r -> (match parts [] [] r with
      | a :: l :: p -> let a = integers a in let l = integers l in Sheet (a, l, List.map points p) | _ -> stop r)
  | [_, "c"; y; x] -> let y = integer y in Closed (y, integer x) | l -> stop l
let label = function
  | [_, "m"; x; c] -> let x = integer x in Cut (x, integer c)
  | (_, "e") :: r -> (match parts [] [] r with
      | [t; s] :: fl -> let t = integer t in let by = integer s in
          if ZA.lt by ZA.zero || ZA.gt by (ZA.of_int 1024) then stop [s] else
          let raised = function x :: z :: j :: y -> x :: z :: j :: List.map (fun y -> ZA.shift_left y (ZA.to_int by)) y | l -> l in
          End (t, List.map (fun flow -> raised (integers flow)) fl)
      | l :: _ -> stop l | [] -> stop r)
  | l -> stop l
(* A line of a proof by matrices; any other is one of a column. *)
let cell = function
  | [_, "g"; y; a] -> let y = integer y in Act (y, integer a)
  | (_, "n") :: n :: r -> let n = integer n in Number (steps [] r, n)
  | (_, "P") :: r -> (match parts [] [] r with
      | [a; l; n; w] -> let a = integers a in let l = integers l in let n = integers n in Price (a, l, n, integers w) | _ -> stop r)
  | l -> Tok (token l)
(* A line of a proof of a design: what prices, or a line of a column; of the eigenvalue half of the lists are factors. *)
let forms design = function
  | (_, "F") :: r -> (match parts [] [] r with
      | a :: l :: f -> let a = integers a in let l = integers l in let f = List.map integers f in let n = List.length f / 2 in
          if design <> Eigenvalue then Forms (a, l, f, []) else if List.length f mod 2 = 1 then stop r else
          Forms (a, l, List.filteri (fun i _ -> i < n) f, List.filteri (fun i _ -> i >= n) f)
      | _ -> stop r)
  | l -> Plainly (token l)
let gap = function
  | [_, "b"; c] -> Gap (integer c) | [_, "w"; c] -> Mass (integer c) | [_, "p"; s; c] -> let s = integer s in Share (s, integer c)
  | [_, "t"; t] -> Close (integer t, None) | [_, "t"; t; l] -> let t = integer t in Close (t, Some (integer l)) | l -> stop l
(* A line of a proof by rays. *)
let plane = function
  | [_, "e"; i] -> Along (integer i) | [_, "h"; i] -> Beside (integer i) | [_, "l"] -> Holds
  | (_, "s") :: y :: c -> let y = integer y in Plane (y, integers c)
  | (_, "P") :: r -> (match parts [] [] r with [a; l] -> let a = integers a in Pay (a, integers l) | _ -> stop r)
  | l -> stop l
(* The same of a design: what prices is a line of forms. *)
let formed design = function
  | (_, "F") :: _ as l -> (match forms design l with Forms (a, l, f, c) -> Formed (a, l, f, c) | Plainly _ -> stop l)
  | (_, ("P" | "l")) :: _ as l -> stop l | l -> Cell (plane l)
let ratio = function [_, "e"; a; b] -> let a = integer a in Exp (a, integer b) | [_, "q"; a; b] -> let a = integer a in Frac (a, integer b) | l -> stop l

let number_of r = let say a b = ZA.to_string a ^ "/" ^ ZA.to_string b in match r with Exp (a, b) -> "exp(" ^ say a b ^ ")" | Frac (a, b) -> say a b

(* ---- a file ---- *)
let check ch =
  let problem_lines = Buffer.create 4096 and ahead = ref "" in
  let next () = ahead := read_line ch in
  let keep () = Buffer.add_string problem_lines !ahead; Buffer.add_char problem_lines '\n'; next () in
  let here key = let n = String.length key in String.starts_with ~prefix:key !ahead && (String.length !ahead = n || !ahead.[n] = ' ') in
  let take key = if here key then List.tl (fields !ahead) else stop [] and whole key = if here key then numbers !ahead (String.length key) else stop [] in
  let rec several key f acc = if here key then let a = f () in several key f (a :: acc) else List.rev acc in
  let three key () = match take key with [x; y; c] -> let x = integer x in let y = integer y in let c = integer c in keep (); ((x, y), c) | l -> stop l in
  let kept key () = let l = whole key in keep (); l and many key f = several key (f key) [] in
  next (); (match take "rropt-core" with [] -> next () | l -> stop l);
  let sha = (match take "problem" with [_, w] -> w | l -> stop l) in next ();
  let sense = (match take "sense" with [_, ("maximize" | "minimize" as w)] -> w | l -> stop l) in keep (); let low = sense = "minimize" in
  let weights = kept "weights" () in
  (* A utility with the lines of its gains or groups; one that is subtracted, or limited, has no terms. *)
  let utility u weights convex =
    let den = (match u with [_, "linear"; n] when not convex -> integer n | [_, "bayes"; n] when convex || not low -> integer n
      | [_, "entropy"] when not (convex || low) -> ZA.one | [_, ("information" | "given" | "chi-square")] when convex || not low -> ZA.one | l -> stop l) in
    let name = snd (List.hd u) in keep ();
    name, (match name with
      | "linear" -> Linear (den, many "cost" three) | "bayes" -> Bayes (den, many "gain" kept) | "entropy" -> Linear (ZA.one, [])
      | "given" -> Information (many "group" kept) | "information" -> Information [weights] | _ -> ChiSquare) in
  let less, u = (match take "utility" with (_, "less") :: r when low -> true, r | r -> false, r) in
  let least = less && (match u with [_, "capacity"] -> true | _ -> false) in
  let design = if not less then None else (match u with
    | [_, "inverse-trace"; n] -> let n = integer n in keep (); Some (Trace (n, many "query" kept))
    | [_, "inverse-eigenvalue"] -> keep (); Some Eigenvalue | [_, "inverse-determinant"] -> keep (); Some Determinant | _ -> None) in
  let name, aim = if design <> None then snd (List.hd u), Linear (ZA.one, []) else if least then (keep (); "capacity", Linear (ZA.one, [])) else utility u weights less in
  let objective, loss = if less then Linear (ZA.one, []), (if least || design <> None then None else Some { prior = weights; aim }) else aim, None in
  let bonus = if name = "entropy" then kept "shares" () else [] in
  if name = "entropy" && List.for_all (fun u -> ZA.sign u = 0) bonus then raise (Unreadable (1, "a utility entropy needs shares that are not all 0"));
  let base = (match take "cone" with
    | [_, "free"] -> keep (); Free | (_, "complete") :: r -> let r = ratio r in keep (); Complete r
    | (_, "robust") :: r -> let r = ratio r in keep (); (match whole "lower" with
        | den :: lower -> keep (); Robust (r, den, lower, many "block" kept) | [] -> stop [])
    | [_, "graph"] -> keep (); Graph (several "edge" (fun () -> match take "edge" with
        | x :: z :: r -> let x = integer x in let z = integer z in let r = ratio r in keep (); ((x, z), r) | l -> stop l) []) | l -> stop l) in
  let halfspaces = many "halfspace" kept in
  let outputs = (match take "outputs" with [_, "free"] -> None | [m] -> Some (integer m) | l -> stop l) in
  (match outputs with Some m when ZA.gt m (ZA.of_int 100000) -> raise (Unreadable (9, "more than 100000 outputs")) | _ -> ()); keep ();
  let rows = several "row" (fun () ->
    let equal, right = (match take "row" with [_, "<="; n] -> false, integer n | [_, "="; n] -> true, integer n | l -> stop l) in
    keep (); { equal; right; coefficients = many "term" three }) [] in
  let pair = function [a; b] -> let a = integer a in let b = integer b in keep (); (a, b) | l -> stop l in
  let floors = several "floor" (fun () ->
    let part = pair (take "floor") in let shares = kept "shares" () in let sizes = kept "sizes" () in { part; shares; sizes }) [] in
  let functions key = several key (fun () ->
    let bound = pair (take key) in let prior = kept "weights" () in let _, aim = utility (take "utility") prior true in ({ prior; aim }, bound)) [] in
  let limits = functions "limit" in
  let capacities = several "capacity" (fun () -> pair (take "capacity")) [] in
  let excesses = several "excess" (fun () -> match take "excess" with a :: b :: c :: l -> let r = ratio [a; b; c] in (r, pair l) | l -> stop l) [] in
  let renyi = several "renyi" (fun () -> match whole "renyi" with [a; b; p; q] -> keep (); Renyi ((a, b), (p, q)) | _ -> stop []) [] in
  let divergences = renyi @ several "concentrated" (fun () -> Concentrated (pair (take "concentrated"))) [] in
  let set_of = if not (here "confidence") then None else
    (match take "confidence" with
      | [a; b; c; _, ("exact" | "product" as form)] -> let level = ratio [a; b; c] in keep (); let counts = kept "counts" () in
          let radii = (match whole "radius" with [a; b; c; e] -> keep (); ((a, b), (c, e)) | _ -> stop []) in
          Some { level; counts; radii; product = form = "product"; blocks = many "block" kept } | l -> stop l) in
  let parts = functions "part" in
  let digest = Sha256.digest (Buffer.contents problem_lines) in
  if sha <> digest then raise (Unreadable (9, "the SHA-256 of the problem is " ^ digest ^ " and line 2 has another"));
  let middle = { inner = { plain = { weights; objective; base; halfspaces; outputs; rows }; bonus; floors }; loss; limits } in
  let entire = { middle; least_capacity = least; capacities; excesses; divergences; set_of; parts } in
  let empty, cl = (match take "claim" with
    | [_, "bound"; n; m] -> let n = integer n in false, (n, integer m) | [_, "infeasible"; n; m] -> let n = integer n in true, (n, integer m) | l -> stop l) in next ();
  let list key = let q = whole key in next (); q in
  let two key = match whole key with [a; b] -> next (); (a, b) | _ -> stop [] in
  let lists key = several key (fun () -> list key) [] in
  let three_and key item = if not (here key) then None else (match whole key with [g; h; r] -> next (); Some (((g, h), r), lists item) | _ -> stop []) in
  let value = if not (here "value") then None else (match take "value" with
      | [n; m; d] -> let n = integer n in let m = integer m in let d = integer d in next ();
          let lows = steps [] (take "lows") in next (); let best = lists "best" in let nears = several "near" (fun () -> two "near") [] in
          let worths = several "worth" (fun () -> two "worth") [] in let members = three_and "root" "pair" in
          let moments = several "orders" (fun () -> let l = list "orders" in (l, lists "moments")) [] in Some (n, m, d, lows, best, nears, members, worths, moments, lists "column") | l -> stop l) in
  let tangents = lists "points" in let priors = lists "prior" in
  let matrices key = several key (fun () -> match take key with [] -> next (); lists "at" | l -> stop l) [] in
  let around = matrices "around" in
  let reaches = several "reach" (fun () -> let gh = two "reach" in (gh, lists "event")) [] in
  let tangents_of = several "tangents" (fun () -> match take "tangents" with [] -> next (); lists "tangent" | l -> stop l) [] in
  let cuts = three_and "cuts" "cut" in
  let lifts = several "lift" (fun () -> match whole "lift" with [i] -> next (); (i, lists "at") | _ -> stop []) [] in
  let sums = matrices "sum" in let touches = matrices "minorant" in
  let eunit = (match take "unit" with [n] -> integer n | l -> stop l) in next ();
  let prices = (match take "prices" with
    | (_, "prior") :: each :: own -> let each = integer each in let pairs = steps [] own in
        let prices = Array.of_list (List.map (ZA.mul each) weights) in
        List.iteri (fun i (x, a) -> if ZA.lt x ZA.zero || ZA.geq x (ZA.of_int (Array.length prices)) then stop [List.nth own (2 * i)];
          prices.(ZA.to_int x) <- a) pairs; next (); Array.to_list prices
    | (_, "prior") :: [] -> stop [] | _ -> list "prices") in let mults = list "mults" in
  let mod_ = (match take "mode" with
    | [_, "dual"] -> `One Dual | [_, "corner"] -> `One Corner | [_, "box"] -> `One Box | [_, "sheets"] -> `One Sheets
    | [_, "known"] -> `One Known | [_, "labels"] -> `Labels | [_, "blocks"] -> `Blocks
    | [_, "matrix"] -> `Matrix | [_, "design"] -> `Design | [_, "rays"] -> `Rays | l -> stop l) in next ();
  let two key = let l = steps [] (take key) in next (); l in
  let begun = (match mod_ with
    | `One mod_ -> `Columns { mod_; eunit; prices; mults; pairs = two "ratios" }
    | `Design -> `Design (two "ratios") | `Rays -> `Rays (two "ratios")
    | `Matrix -> let pairs = two "ratios" in
        let common = if here "measures" then (match whole "measures" with [n] -> next (); n | _ -> stop []) else ZA.zero in
        `Matrix (pairs, common, lists "measure")
    | `Blocks -> `Blocks { bunit = eunit; bprices = prices; bratio = (match whole "ratios" with [g; h] -> next (); (g, h) | _ -> stop []) }
    | `Labels ->
    let step_ = (match take "step" with [f; s] -> let f = integer f in (f, integer s) | l -> stop l) in next ();
    let lengths = list "lengths" in let powers = two "powers" in let order = list "order" in let least_ = list "least" in
    let links = two "links" in `Labels { lunit = eunit; lprices = prices; step_; lengths; powers; order; least_; links; trees = lists "tree" }) in
  Printf.printf "problem %s\n%s %s%s, %d inputs, total weight %s, %s, %d half-spaces, %d rows%s%s\n" digest sense (if less then "less " else "") name (List.length weights)
    (ZA.to_string (List.fold_left ZA.add ZA.zero weights))
    (match base with Free -> "cone free" | Graph l -> Printf.sprintf "%d edges" (List.length l)
      | Complete r -> "ratio " ^ number_of r
      | Robust (r, _, _, sets) -> Printf.sprintf "%d blocks at ratio %s" (List.length sets) (number_of r)) (List.length halfspaces) (List.length rows)
    (String.concat "" (List.map (fun f -> Printf.sprintf ", entropy at least %s/%s" (ZA.to_string (fst f.part)) (ZA.to_string (snd f.part))) floors))
    (String.concat "" (List.map (fun (_, (a, b)) -> Printf.sprintf ", a limit of %s/%s" (ZA.to_string a) (ZA.to_string b)) limits)
      ^ String.concat "" (List.map (fun (a, b) -> Printf.sprintf ", a capacity of %s/%s" (ZA.to_string a) (ZA.to_string b)) capacities)
      ^ String.concat "" (List.map (fun (r, (a, b)) -> Printf.sprintf ", an excess over %s of %s/%s" (number_of r) (ZA.to_string a) (ZA.to_string b)) excesses)
      ^ String.concat "" (List.map (function
          | Renyi ((a, b), (p, q)) -> Printf.sprintf ", a divergence of order %s/%s of %s/%s" (ZA.to_string a) (ZA.to_string b) (ZA.to_string p) (ZA.to_string q)
          | Concentrated (p, q) -> Printf.sprintf ", a concentrated divergence of %s/%s" (ZA.to_string p) (ZA.to_string q)) divergences)
      ^ (match set_of with None -> "" | Some s -> let (a, b), (c, e) = s.radii in Printf.sprintf ", %s confidence at ratio %s, %d blocks, radius %s/%s to %s/%s"
          (if s.product then "product" else "exact") (number_of s.level) (List.length s.blocks) (ZA.to_string a) (ZA.to_string b) (ZA.to_string c) (ZA.to_string e))
      ^ String.concat "" (List.map (fun (_, (a, b)) -> Printf.sprintf ", a part of %s/%s" (ZA.to_string a) (ZA.to_string b)) parts));
  let k = len weights and longest l = float (1 + List.fold_left (fun a b -> max a (ZA.numbits b)) 1 l / 512) in
  let groups = (match objective with Information l | Bayes (_, l) -> max (len l) 1. | _ -> 1.) in
  let tests = (match mod_, objective with `One Dual, Bayes (_, l) -> len l | `One Dual, _ -> (match outputs with Some m when ZA.sign m > 0 -> float (ZA.to_int m) | _ -> 0.) | _ -> 1.) in
  let held = Option.map (fun (_, _, _, _, _, _, _, _, moments, columns) -> len columns, sum (fun (_, l) -> sum len l) moments) value in
  spend_before entire held k { prior = weights; aim } tests tangents around sums lifts touches;
  let words = let mass = List.fold_left ZA.add ZA.zero weights in longest (List.map (ZA.mul mass) (eunit :: prices)) in
  let terms = sum (fun r -> len r.coefficients) rows in
  (* A state that is divided is kept, with the list of its columns: memory counts, too. *)
  let kept = 16. *. (match mod_, outputs with `One Sheets, Some m -> float (ZA.to_int m) | _ -> 1.) in
  let paid t = (let size m = k *. (8. +. groups +. len m.against) +. log_cost *. groups in
    let size, along = (match t with
      | Leaf (_, m) -> size m, m.along
      | Up (_, _, _, m) | Low (_, _, _, m) -> kept +. size m, m.along
      | Sheet (_, _, p) -> terms +. sum (fun (_, m) -> size m) p, List.concat_map (fun (_, m) -> m.along) p
      | _ -> kept +. k *. (8. +. groups) +. log_cost *. groups, []) in
    spend size (words +. longest along -. 1.)); t in
  let refuted () = Printf.printf "REFUTED at line %d\n" !row_number; 1 in
  (* [proves] is [reduce], then [accepts], which is [straight], [relax], [start], then [advance] for each token, then the empty stack; [denies] is the same of the emptied problem;
     [charted] is [reduce], [lab_start], then [lab_advance] for each token, then the empty stack; [cornered] is the same of [mat_start] and [mat_advance], [designed] of [des_start] and [des_advance],
     [blocks_proved] of [reduce], [blocks_start] and [blocks_advance], [rays_proved] of [reduce], [straight], [relax], [ray_start] and [ray_advance],
     [ray_designed] of [rd_start] and [rd_advance]. *)
  let attained = match value with None -> true | Some (n, m, d, lows, best, nears, members, worths, moments, columns) ->
      not empty && displays entire (n, m) d lows best nears members worths moments columns in
  let of_design = design <> None in
  if (match begun with `Design _ -> not of_design | `Rays _ -> false | _ -> of_design) || (of_design && (empty || value <> None || tangents <> [] || touches <> [])) then refuted () else
  if not attained || (empty && ZA.sign (fst cl) >= 0) then refuted () else
  (* The lines of the proof: [read] makes a token of one, [step] takes it from the open states to those that follow. *)
  let lines read step stack =
    let rec loop stack = match fields !ahead with
      | [_, "end"] -> if more ch then (incr row_number; raise (Unreadable (1, "text after the end")));
          if stack <> [] then refuted () else if empty then (print_endline "PROVED (verified core): no mechanism exists"; 0)
          else (let shown (n, m) = ZA.to_string (if low then ZA.neg n else n) ^ "/" ^ ZA.to_string m in
            (match value with Some (n, m, _, _, _, _, _, _, _, _) -> let a = shown (n, m) and b = shown cl in
                  Printf.printf "PROVED (verified core): optimum in [%s, %s]\n" (if low then b else a) (if low then a else b)
              | None -> Printf.printf "PROVED (verified core): at %s %s\n" (if low then "least" else "most") (shown cl)); 0)
      | l -> let t = read l in (match step t stack with None -> refuted () | Some stack -> next (); loop stack) in
    loop stack in
  (* Blocks have at most a corner for each set of their inputs; a matrix is read once for each column. *)
  let wide = sum (fun one -> 2. ** len one) (match base with Robust (_, _, _, own) -> own | _ -> []) in
  let each_matrix = 30. *. k *. (match outputs with Some m when ZA.sign m > 0 -> float (ZA.to_int m) | _ -> 1.) +. terms in
  let hints = { priors; around; reaches; lifts; cuts; sums; tangents_of } in
  match begun with
  | `Matrix (pairs, common, measures) -> if empty || tangents <> [] || touches <> [] then refuted () else
      (match mat_start entire cl hints eunit pairs common measures with None -> refuted () | Some (mt, stack) -> lines (fun l -> spend each_matrix words; cell l) (mat_advance mt) stack)
  | `Design pairs -> (match design with None -> refuted () | Some ds ->
      (match des_start entire ds cl eunit pairs with None -> refuted () | Some (de, stack) -> lines (fun l -> spend each_matrix words; forms ds l) (des_advance de) stack))
  | `Rays pairs when of_design -> (match design with None -> refuted () | Some ds ->
      (match rd_start entire ds cl eunit pairs with None -> refuted () | Some (en, stack) -> spend (k *. k) 1.;
        lines (formed ds) (fun t stack -> (match stack with st :: _ -> spend_forms en t st | [] -> ()); rd_advance en ds t stack) stack))
  | (`Labels _ | `Blocks _ | `Rays _ | `Columns _) as begun ->
  match reduce entire cl hints with None -> refuted () | Some (entire, smaller) ->
  match begun with
  | `Labels lb -> if empty || tangents <> [] || touches <> [] then refuted () else
      (match lab_start entire smaller lb with None -> refuted () | Some (en, stack) -> 
        (* An upper end of what the kernel counts by the limits of a leaf, over 8: this program is at least so much faster. *)
        let count = len lb.powers in spend ((150. *. k +. 500.) *. count) words;
        let paid t = (match t with Cut _ -> spend (20. *. k) words
          | End (_, flows) -> spend (20. *. k +. 4. *. sum len flows +. count *. (k +. len lb.links) /. 8.) words); t in
        lines (fun l -> paid (label l)) (lab_advance en) stack)
  | `Blocks hd -> if empty || tangents <> [] || touches <> [] then refuted () else
      (match blocks_start entire smaller hd with None -> refuted () | Some (en, stack) -> spend (20. *. wide) 1.; lines (fun l -> spend (30. *. wide) 1.; gap l) (blocks_advance en) stack)
  | (`Rays _ | `Columns _) as begun ->
  match straight entire touches with None -> refuted () | Some plainer ->
  match relax (if empty then bare plainer else plainer) (if empty then cl else smaller) tangents with None -> refuted () | Some (pb, relaxed) ->
  match begun with
  | `Rays pairs -> if empty then refuted () else
      (match ray_start pb relaxed eunit pairs with None -> refuted () | Some (en, stack) -> spend (k *. k) 1.;
        lines plane (fun t stack -> (match stack with st :: _ -> spend_rays en t st | [] -> ()); ray_advance en t stack) stack)
  | `Columns header ->
  match start (if empty then emptied pb else pb) relaxed header with None -> refuted () | Some (en, stack) -> lines (fun l -> paid (token l)) (advance en) stack
let () =
  if Array.length Sys.argv > 2 then fuel := float_of_string Sys.argv.(2) *. !fuel;
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 17; space_overhead = 200 };
  let status = (try check (if Array.length Sys.argv > 1 then open_in_bin Sys.argv.(1) else stdin) with
    | Unreadable (at, what) -> Printf.printf "UNREADABLE line %d column %d: %s\n" !row_number at what; 2
    | Sys_error what -> Printf.printf "UNREADABLE %s\n" what; 2
    | Stack_overflow | Out_of_memory -> Printf.printf "UNREADABLE line %d: too large for this machine\n" !row_number; 2) in
  exit status
