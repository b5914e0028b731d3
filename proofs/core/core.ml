
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type nat =
| O
| S of nat

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> nat **)

let rec length = function
| [] -> O
| _ :: l' -> S (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

module Coq__1 = struct
 (** val add : nat -> nat -> nat **)
 let rec add n0 m =
   match n0 with
   | O -> m
   | S p0 -> S (add p0 m)
end
include Coq__1

module Pos =
 struct
  type mask =
  | IsNul
  | IsPos of Big_int_Z.big_int
  | IsNeg
 end

module Coq_Pos =
 struct
  (** val succ : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec succ = Big_int_Z.succ_big_int

  (** val add :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec add = Big_int_Z.add_big_int

  (** val add_carry :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  and add_carry x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (add_carry p0 q))
        (fun q -> Big_int_Z.mult_int_big_int 2 (add_carry p0 q))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (succ p0))
        y)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> Big_int_Z.mult_int_big_int 2 (add_carry p0 q))
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (add p0 q))
        (fun _ -> Big_int_Z.mult_int_big_int 2 (succ p0))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (succ q))
        (fun q -> Big_int_Z.mult_int_big_int 2 (succ q))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int)
        y)
      x

  (** val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec pred_double x =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (Big_int_Z.mult_int_big_int 2 p0))
      (fun p0 ->
      (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (pred_double p0))
      (fun _ -> Big_int_Z.unit_big_int)
      x

  (** val pred_N : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pred_N x =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 -> (Big_int_Z.mult_int_big_int 2 p0))
      (fun p0 -> (pred_double p0))
      (fun _ -> Big_int_Z.zero_big_int)
      x

  type mask = Pos.mask =
  | IsNul
  | IsPos of Big_int_Z.big_int
  | IsNeg

  (** val succ_double_mask : mask -> mask **)

  let succ_double_mask = function
  | IsNul -> IsPos Big_int_Z.unit_big_int
  | IsPos p0 ->
    IsPos ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      p0)
  | IsNeg -> IsNeg

  (** val double_mask : mask -> mask **)

  let double_mask = function
  | IsPos p0 -> IsPos (Big_int_Z.mult_int_big_int 2 p0)
  | x0 -> x0

  (** val double_pred_mask : Big_int_Z.big_int -> mask **)

  let double_pred_mask x =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 -> IsPos (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 p0)))
      (fun p0 -> IsPos (Big_int_Z.mult_int_big_int 2
      (pred_double p0)))
      (fun _ -> IsNul)
      x

  (** val sub_mask : Big_int_Z.big_int -> Big_int_Z.big_int -> mask **)

  let rec sub_mask x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> double_mask (sub_mask p0 q))
        (fun q -> succ_double_mask (sub_mask p0 q))
        (fun _ -> IsPos (Big_int_Z.mult_int_big_int 2 p0))
        y)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> succ_double_mask (sub_mask_carry p0 q))
        (fun q -> double_mask (sub_mask p0 q))
        (fun _ -> IsPos (pred_double p0))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> IsNeg)
        (fun _ -> IsNeg)
        (fun _ -> IsNul)
        y)
      x

  (** val sub_mask_carry : Big_int_Z.big_int -> Big_int_Z.big_int -> mask **)

  and sub_mask_carry x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> succ_double_mask (sub_mask_carry p0 q))
        (fun q -> double_mask (sub_mask p0 q))
        (fun _ -> IsPos (pred_double p0))
        y)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> double_mask (sub_mask_carry p0 q))
        (fun q -> succ_double_mask (sub_mask_carry p0 q))
        (fun _ -> double_pred_mask p0)
        y)
      (fun _ -> IsNeg)
      x

  (** val sub :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let sub = (fun n m -> Big_int_Z.max_big_int
  Big_int_Z.unit_big_int (Big_int_Z.sub_big_int n m))

  (** val mul :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec mul = Big_int_Z.mult_big_int

  (** val iter : ('a1 -> 'a1) -> 'a1 -> Big_int_Z.big_int -> 'a1 **)

  let rec iter f x n0 =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun n' -> f (iter f (iter f x n') n'))
      (fun n' -> iter f (iter f x n') n')
      (fun _ -> f x)
      n0

  (** val div2 : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div2 p0 =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 -> p1)
      (fun p1 -> p1)
      (fun _ -> Big_int_Z.unit_big_int)
      p0

  (** val div2_up : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div2_up p0 =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 -> succ p1)
      (fun p1 -> p1)
      (fun _ -> Big_int_Z.unit_big_int)
      p0

  (** val size_nat : Big_int_Z.big_int -> nat **)

  let rec size_nat p0 =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 -> S (size_nat p1))
      (fun p1 -> S (size_nat p1))
      (fun _ -> S O)
      p0

  (** val size : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec size p0 =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 -> succ (size p1))
      (fun p1 -> succ (size p1))
      (fun _ -> Big_int_Z.unit_big_int)
      p0

  (** val compare_cont :
      comparison -> Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let rec compare_cont = (fun c x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then c else if s < 0 then Lt else Gt)

  (** val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let compare = (fun x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then Eq else if s < 0 then Lt else Gt)

  (** val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let rec eqb p0 q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> eqb p1 q0)
        (fun _ -> false)
        (fun _ -> false)
        q)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun q0 -> eqb p1 q0)
        (fun _ -> false)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun _ -> false)
        (fun _ -> true)
        q)
      p0

  (** val leb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val sqrtrem_step :
      (Big_int_Z.big_int -> Big_int_Z.big_int) -> (Big_int_Z.big_int ->
      Big_int_Z.big_int) -> (Big_int_Z.big_int * mask) ->
      Big_int_Z.big_int * mask **)

  let sqrtrem_step f g = function
  | (s, y) ->
    (match y with
     | IsPos r ->
       let s' =
         (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
         (Big_int_Z.mult_int_big_int 2 s)
       in
       let r' = g (f r) in
       if leb s' r'
       then (((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              s), (sub_mask r' s'))
       else ((Big_int_Z.mult_int_big_int 2 s), (IsPos r'))
     | _ ->
       ((Big_int_Z.mult_int_big_int 2 s),
         (sub_mask (g (f Big_int_Z.unit_big_int))
           (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
           Big_int_Z.unit_big_int)))))

  (** val sqrtrem : Big_int_Z.big_int -> Big_int_Z.big_int * mask **)

  let rec sqrtrem p0 =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun p2 ->
        sqrtrem_step (fun x ->
          (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          x) (fun x ->
          (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          x) (sqrtrem p2))
        (fun p2 ->
        sqrtrem_step (fun x -> Big_int_Z.mult_int_big_int 2 x) (fun x ->
          (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          x) (sqrtrem p2))
        (fun _ -> (Big_int_Z.unit_big_int, (IsPos
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))
        p1)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun p2 ->
        sqrtrem_step (fun x ->
          (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          x) (fun x -> Big_int_Z.mult_int_big_int 2 x) (sqrtrem p2))
        (fun p2 ->
        sqrtrem_step (fun x -> Big_int_Z.mult_int_big_int 2 x) (fun x ->
          Big_int_Z.mult_int_big_int 2 x) (sqrtrem p2))
        (fun _ -> (Big_int_Z.unit_big_int, (IsPos Big_int_Z.unit_big_int)))
        p1)
      (fun _ -> (Big_int_Z.unit_big_int, IsNul))
      p0

  (** val sqrt : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let sqrt p0 =
    fst (sqrtrem p0)

  (** val gcdn :
      nat -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec gcdn n0 a b =
    match n0 with
    | O -> Big_int_Z.unit_big_int
    | S n1 ->
      ((fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
         (fun a' ->
         (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
           (fun b' ->
           match compare a' b' with
           | Eq -> a
           | Lt -> gcdn n1 (sub b' a') a
           | Gt -> gcdn n1 (sub a' b') b)
           (fun b0 -> gcdn n1 a b0)
           (fun _ -> Big_int_Z.unit_big_int)
           b)
         (fun a0 ->
         (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
           (fun _ -> gcdn n1 a0 b)
           (fun b0 -> Big_int_Z.mult_int_big_int 2 (gcdn n1 a0 b0))
           (fun _ -> Big_int_Z.unit_big_int)
           b)
         (fun _ -> Big_int_Z.unit_big_int)
         a)

  (** val gcd :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let gcd a b =
    gcdn (Coq__1.add (size_nat a) (size_nat b)) a b

  (** val coq_Nsucc_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let coq_Nsucc_double x =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p0 ->
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      p0))
      x

  (** val coq_Ndouble : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let coq_Ndouble n0 =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p0 -> (Big_int_Z.mult_int_big_int 2 p0))
      n0

  (** val coq_lor :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec coq_lor p0 q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (coq_lor p1 q0))
        (fun q0 ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (coq_lor p1 q0))
        (fun _ -> p0)
        q)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (coq_lor p1 q0))
        (fun q0 -> Big_int_Z.mult_int_big_int 2 (coq_lor p1 q0))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        p1)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> q)
        (fun q0 ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        q0)
        (fun _ -> q)
        q)
      p0

  (** val coq_land :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec coq_land p0 q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> coq_Nsucc_double (coq_land p1 q0))
        (fun q0 -> coq_Ndouble (coq_land p1 q0))
        (fun _ -> Big_int_Z.unit_big_int)
        q)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> coq_Ndouble (coq_land p1 q0))
        (fun q0 -> coq_Ndouble (coq_land p1 q0))
        (fun _ -> Big_int_Z.zero_big_int)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> Big_int_Z.unit_big_int)
        (fun _ -> Big_int_Z.zero_big_int)
        (fun _ -> Big_int_Z.unit_big_int)
        q)
      p0

  (** val ldiff :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec ldiff p0 q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> coq_Ndouble (ldiff p1 q0))
        (fun q0 -> coq_Nsucc_double (ldiff p1 q0))
        (fun _ -> (Big_int_Z.mult_int_big_int 2 p1))
        q)
      (fun p1 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> coq_Ndouble (ldiff p1 q0))
        (fun q0 -> coq_Ndouble (ldiff p1 q0))
        (fun _ -> p0)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> Big_int_Z.zero_big_int)
        (fun _ -> Big_int_Z.unit_big_int)
        (fun _ -> Big_int_Z.zero_big_int)
        q)
      p0

  (** val iter_op : ('a1 -> 'a1 -> 'a1) -> Big_int_Z.big_int -> 'a1 -> 'a1 **)

  let rec iter_op op p0 a =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p1 -> op a (iter_op op p1 (op a a)))
      (fun p1 -> iter_op op p1 (op a a))
      (fun _ -> a)
      p0

  (** val to_nat : Big_int_Z.big_int -> nat **)

  let to_nat x =
    iter_op Coq__1.add x (S O)
 end

module N =
 struct
  (** val succ_pos : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let succ_pos n0 =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p0 -> Coq_Pos.succ p0)
      n0

  (** val coq_lor :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let coq_lor n0 m =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> m)
      (fun p0 ->
      (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
        (fun _ -> n0)
        (fun q -> (Coq_Pos.coq_lor p0 q))
        m)
      n0

  (** val ldiff :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let ldiff n0 m =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p0 ->
      (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
        (fun _ -> n0)
        (fun q -> Coq_Pos.ldiff p0 q)
        m)
      n0
 end

module Z =
 struct
  (** val double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p0 -> (Big_int_Z.mult_int_big_int 2 p0))
      (fun p0 -> Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2 p0))
      x

  (** val succ_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let succ_double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p0 ->
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      p0))
      (fun p0 -> Big_int_Z.minus_big_int (Coq_Pos.pred_double p0))
      x

  (** val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pred_double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.minus_big_int Big_int_Z.unit_big_int)
      (fun p0 -> (Coq_Pos.pred_double p0))
      (fun p0 -> Big_int_Z.minus_big_int
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      p0))
      x

  (** val pos_sub :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec pos_sub x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> double (pos_sub p0 q))
        (fun q -> succ_double (pos_sub p0 q))
        (fun _ -> (Big_int_Z.mult_int_big_int 2 p0))
        y)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> pred_double (pos_sub p0 q))
        (fun q -> double (pos_sub p0 q))
        (fun _ -> (Coq_Pos.pred_double p0))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
        q))
        (fun q -> Big_int_Z.minus_big_int (Coq_Pos.pred_double q))
        (fun _ -> Big_int_Z.zero_big_int)
        y)
      x

  (** val pow_pos :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pow_pos z0 =
    Coq_Pos.iter (Big_int_Z.mult_big_int z0) Big_int_Z.unit_big_int

  (** val pow :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pow x y =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p0 -> pow_pos x p0)
      (fun _ -> Big_int_Z.zero_big_int)
      y

  (** val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let compare = (fun x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then Eq else if s < 0 then Lt else Gt)

  (** val abs : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let abs = Big_int_Z.abs_big_int

  (** val to_nat : Big_int_Z.big_int -> nat **)

  let to_nat z0 =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> O)
      (fun p0 -> Coq_Pos.to_nat p0)
      (fun _ -> O)
      z0

  (** val of_N : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let of_N = (fun p -> p)

  (** val pos_div_eucl :
      Big_int_Z.big_int -> Big_int_Z.big_int ->
      Big_int_Z.big_int * Big_int_Z.big_int **)

  let rec pos_div_eucl a b =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' =
        Big_int_Z.add_big_int
          (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
            Big_int_Z.unit_big_int) r) Big_int_Z.unit_big_int
      in
      if Big_int_Z.lt_big_int r' b
      then ((Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
              Big_int_Z.unit_big_int) q), r')
      else ((Big_int_Z.add_big_int
              (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
                Big_int_Z.unit_big_int) q) Big_int_Z.unit_big_int),
             (Big_int_Z.sub_big_int r' b)))
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' =
        Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int) r
      in
      if Big_int_Z.lt_big_int r' b
      then ((Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
              Big_int_Z.unit_big_int) q), r')
      else ((Big_int_Z.add_big_int
              (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
                Big_int_Z.unit_big_int) q) Big_int_Z.unit_big_int),
             (Big_int_Z.sub_big_int r' b)))
      (fun _ ->
      if Big_int_Z.le_big_int (Big_int_Z.mult_int_big_int 2
           Big_int_Z.unit_big_int) b
      then (Big_int_Z.zero_big_int, Big_int_Z.unit_big_int)
      else (Big_int_Z.unit_big_int, Big_int_Z.zero_big_int))
      a

  (** val div_eucl :
      Big_int_Z.big_int -> Big_int_Z.big_int ->
      Big_int_Z.big_int * Big_int_Z.big_int **)

  let div_eucl = Big_int_Z.(fun x y ->
  match sign_big_int y with
  | 0 -> (zero_big_int, x)
  | 1 -> quomod_big_int x y
  | _ -> let (q, r) = quomod_big_int (add_int_big_int (-1) x) y in
          (add_int_big_int (-1) q, add_big_int (add_int_big_int 1 y) r))

  (** val div :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div = (fun a b -> if Z.sign b = 0 then Z.zero else Z.fdiv a b)

  (** val modulo :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let modulo = (fun a b -> if Z.sign b = 0 then a else Z.sub a (Z.mul b (Z.fdiv a b)))

  (** val div2 : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div2 z0 =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> (Coq_Pos.div2 p0))
        (fun _ -> (Coq_Pos.div2 p0))
        (fun _ -> Big_int_Z.zero_big_int)
        p0)
      (fun p0 -> Big_int_Z.minus_big_int (Coq_Pos.div2_up p0))
      z0

  (** val log2 : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let log2 = (fun x -> if Z.sign x <= 0 then Z.zero else Z.of_int (Z.numbits x - 1))

  (** val sqrt : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let sqrt n0 =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p0 -> (Coq_Pos.sqrt p0))
      (fun _ -> Big_int_Z.zero_big_int)
      n0

  (** val shiftl :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let shiftl = (fun x n -> let n = Z.to_int n in if n >= 0 then Z.shift_left x n else Z.shift_right x (- n))

  (** val shiftr :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let shiftr = (fun x n -> let n = Z.to_int n in if n >= 0 then Z.shift_right x n else Z.shift_left x (- n))
 end

(** val nth : nat -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth n0 l default =
  match n0 with
  | O -> (match l with
          | [] -> default
          | x :: _ -> x)
  | S m -> (match l with
            | [] -> default
            | _ :: t -> nth m t default)

(** val concat : 'a1 list list -> 'a1 list **)

let rec concat = function
| [] -> []
| x :: l0 -> app x (concat l0)

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t -> (f a) :: (map f t)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t -> app (f x) (flat_map f t)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t -> f b (fold_right f a0 t)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec combine l l' =
  match l with
  | [] -> []
  | x :: tl ->
    (match l' with
     | [] -> []
     | y :: tl' -> (x, y) :: (combine tl tl'))

(** val firstn : nat -> 'a1 list -> 'a1 list **)

let rec firstn n0 l =
  match n0 with
  | O -> []
  | S n1 -> (match l with
             | [] -> []
             | a :: l0 -> a :: (firstn n1 l0))

(** val skipn : nat -> 'a1 list -> 'a1 list **)

let rec skipn n0 l =
  match n0 with
  | O -> l
  | S n1 -> (match l with
             | [] -> []
             | _ :: l0 -> skipn n1 l0)

(** val p : Big_int_Z.big_int **)

let p =
  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))))

(** val d : Big_int_Z.big_int **)

let d =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))))

(** val half : Big_int_Z.big_int -> Big_int_Z.big_int **)

let half a =
  Z.shiftr a p

(** val lo_loop :
    nat -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int **)

let rec lo_loop n0 i pw y2 acc =
  match n0 with
  | O -> acc
  | S n1 ->
    lo_loop n1
      (Big_int_Z.add_big_int i (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int)) (half (Big_int_Z.mult_big_int pw y2)) y2
      (Big_int_Z.add_big_int acc (Z.div pw i))

(** val hi_loop :
    nat -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int **)

let rec hi_loop n0 i pw y2 acc =
  match n0 with
  | O ->
    Big_int_Z.add_big_int acc
      (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int) pw)
  | S n1 ->
    hi_loop n1
      (Big_int_Z.add_big_int i (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int))
      (Big_int_Z.add_big_int (half (Big_int_Z.mult_big_int pw y2))
        Big_int_Z.unit_big_int) y2
      (Big_int_Z.add_big_int acc
        (Big_int_Z.add_big_int (Z.div pw i) Big_int_Z.unit_big_int))

(** val nterms : nat **)

let nterms =
  S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S O)))))))))))))))))))))))))))))))))))))))))))))))))))

(** val ln_red :
    bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let ln_red up n0 d0 =
  let y =
    Z.div (Big_int_Z.mult_big_int (Big_int_Z.sub_big_int n0 d0) d)
      (Big_int_Z.add_big_int n0 d0)
  in
  if up
  then let z0 = Big_int_Z.add_big_int y Big_int_Z.unit_big_int in
       Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
         Big_int_Z.unit_big_int)
         (hi_loop nterms Big_int_Z.unit_big_int z0
           (Big_int_Z.add_big_int (half (Big_int_Z.mult_big_int z0 z0))
             Big_int_Z.unit_big_int) Big_int_Z.zero_big_int)
  else Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
         Big_int_Z.unit_big_int)
         (lo_loop nterms Big_int_Z.unit_big_int y
           (half (Big_int_Z.mult_big_int y y)) Big_int_Z.zero_big_int)

(** val ln2_below : Big_int_Z.big_int **)

let ln2_below =
  ln_red false (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    Big_int_Z.unit_big_int

(** val ln2_above : Big_int_Z.big_int **)

let ln2_above =
  ln_red true (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    Big_int_Z.unit_big_int

(** val ln2 : bool -> Big_int_Z.big_int **)

let ln2 = function
| true -> ln2_above
| false -> ln2_below

(** val log_try :
    bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int option **)

let log_try up n0 d0 j =
  let n' =
    Z.shiftl n0
      (Big_int_Z.max_big_int Big_int_Z.zero_big_int
        (Big_int_Z.minus_big_int j))
  in
  let d' = Z.shiftl d0 (Big_int_Z.max_big_int Big_int_Z.zero_big_int j) in
  if (&&) (Big_int_Z.le_big_int d' n')
       (Big_int_Z.le_big_int n'
         (Big_int_Z.mult_big_int
           ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
           Big_int_Z.unit_big_int) d'))
  then Some
         (Big_int_Z.add_big_int (ln_red up n' d')
           (Big_int_Z.mult_big_int j
             (ln2
               (if Big_int_Z.le_big_int Big_int_Z.zero_big_int j
                then up
                else negb up))))
  else None

(** val log :
    bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option **)

let log up n0 d0 =
  if (||) (Big_int_Z.le_big_int n0 Big_int_Z.zero_big_int)
       (Big_int_Z.le_big_int d0 Big_int_Z.zero_big_int)
  then None
  else if Big_int_Z.eq_big_int n0 d0
       then Some Big_int_Z.zero_big_int
       else let j = Big_int_Z.sub_big_int (Z.log2 n0) (Z.log2 d0) in
            (match log_try up n0 d0 j with
             | Some r -> Some r
             | None ->
               log_try up n0 d0
                 (Big_int_Z.sub_big_int j Big_int_Z.unit_big_int))

type ratio =
| Exp of Big_int_Z.big_int * Big_int_Z.big_int
| Frac of Big_int_Z.big_int * Big_int_Z.big_int

type cone =
| Free
| Complete of ratio
| Graph of ((Big_int_Z.big_int * Big_int_Z.big_int) * ratio) list
| Robust of ratio * Big_int_Z.big_int * Big_int_Z.big_int list
   * Big_int_Z.big_int list list

type terms =
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list

type row = { equal : bool; right : Big_int_Z.big_int; coefficients : terms }

type utility =
| Linear of Big_int_Z.big_int * terms
| Bayes of Big_int_Z.big_int * Big_int_Z.big_int list list
| Information of Big_int_Z.big_int list list
| ChiSquare

type problem = { weights : Big_int_Z.big_int list; objective : utility;
                 base : cone; halfspaces : Big_int_Z.big_int list list;
                 outputs : Big_int_Z.big_int option; rows : row list }

(** val zsum : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec zsum = function
| [] -> Big_int_Z.zero_big_int
| c :: l0 -> Big_int_Z.add_big_int c (zsum l0)

(** val products :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec products w g =
  match w with
  | [] -> []
  | w0 :: w1 ->
    (match g with
     | [] -> []
     | a :: g0 -> (Big_int_Z.mult_big_int w0 a) :: (products w1 g0))

type floor = { part : (Big_int_Z.big_int * Big_int_Z.big_int);
               shares : Big_int_Z.big_int list; sizes : Big_int_Z.big_int list }

type with_entropy = { plain : problem; bonus : Big_int_Z.big_int list;
                      floors : floor list }

type convex = { prior : Big_int_Z.big_int list; aim : utility }

type with_convex = { inner : with_entropy; loss : convex option;
                     limits : (convex * (Big_int_Z.big_int * Big_int_Z.big_int))
                              list }

type divergence =
| Renyi of (Big_int_Z.big_int * Big_int_Z.big_int)
   * (Big_int_Z.big_int * Big_int_Z.big_int)
| Concentrated of (Big_int_Z.big_int * Big_int_Z.big_int)

type confidence = { level : ratio; counts : Big_int_Z.big_int list;
                    radii : ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int));
                    product : bool; blocks : Big_int_Z.big_int list list }

(** val pick : 'a1 -> Big_int_Z.big_int list -> 'a1 list -> 'a1 list **)

let pick w block l =
  map (fun x -> nth (Z.to_nat x) l w) block

type with_more = { middle : with_convex; least_capacity : bool;
                   capacities : (Big_int_Z.big_int * Big_int_Z.big_int) list;
                   excesses : (ratio * (Big_int_Z.big_int * Big_int_Z.big_int))
                              list; divergences : divergence list;
                   set_of : confidence option;
                   parts : (convex * (Big_int_Z.big_int * Big_int_Z.big_int))
                           list }

type kind =
| Plain
| Entropic
| Square

(** val nthz : Big_int_Z.big_int -> 'a1 list -> 'a1 option **)

let rec nthz i = function
| [] -> None
| a :: l0 ->
  if Big_int_Z.eq_big_int i Big_int_Z.zero_big_int
  then Some a
  else nthz (Big_int_Z.sub_big_int i Big_int_Z.unit_big_int) l0

(** val updz : Big_int_Z.big_int -> ('a1 -> 'a1) -> 'a1 list -> 'a1 list **)

let rec updz i f = function
| [] -> []
| a :: l0 ->
  if Big_int_Z.eq_big_int i Big_int_Z.zero_big_int
  then (f a) :: l0
  else a :: (updz (Big_int_Z.sub_big_int i Big_int_Z.unit_big_int) f l0)

(** val zlen : 'a1 list -> Big_int_Z.big_int **)

let rec zlen = function
| [] -> Big_int_Z.zero_big_int
| _ :: l0 -> Big_int_Z.add_big_int Big_int_Z.unit_big_int (zlen l0)

(** val alike : 'a1 list -> 'a2 list -> bool **)

let rec alike a b =
  match a with
  | [] -> (match b with
           | [] -> true
           | _ :: _ -> false)
  | _ :: a0 -> (match b with
                | [] -> false
                | _ :: b0 -> alike a0 b0)

type 'a trie =
| Tip
| Node of 'a trie * 'a option * 'a trie

(** val get : Big_int_Z.big_int -> 'a1 trie -> 'a1 option **)

let rec get p0 = function
| Tip -> None
| Node (l, a, r) ->
  ((fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
     (fun p1 -> get p1 r)
     (fun p1 -> get p1 l)
     (fun _ -> a)
     p0)

(** val set : Big_int_Z.big_int -> 'a1 -> 'a1 trie -> 'a1 trie **)

let rec set p0 a t =
  (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
    (fun p1 ->
    match t with
    | Tip -> Node (Tip, None, (set p1 a Tip))
    | Node (l, b, r) -> Node (l, b, (set p1 a r)))
    (fun p1 ->
    match t with
    | Tip -> Node ((set p1 a Tip), None, Tip)
    | Node (l, b, r) -> Node ((set p1 a l), b, r))
    (fun _ ->
    match t with
    | Tip -> Node (Tip, (Some a), Tip)
    | Node (l, _, r) -> Node (l, (Some a), r))
    p0

(** val find : Big_int_Z.big_int -> 'a1 trie -> 'a1 option **)

let find i t =
  (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
    (fun _ -> None)
    (fun p0 -> get p0 t)
    (fun _ -> None)
    (Big_int_Z.add_big_int i Big_int_Z.unit_big_int)

(** val put : Big_int_Z.big_int -> 'a1 -> 'a1 trie -> 'a1 trie **)

let put i a t =
  (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
    (fun _ -> t)
    (fun p0 -> set p0 a t)
    (fun _ -> t)
    (Big_int_Z.add_big_int i Big_int_Z.unit_big_int)

(** val number : Big_int_Z.big_int -> 'a1 list -> 'a1 trie -> 'a1 trie **)

let rec number i l t =
  match l with
  | [] -> t
  | a :: l0 ->
    number (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) l0 (put i a t)

(** val amount :
    Big_int_Z.big_int -> Big_int_Z.big_int trie -> Big_int_Z.big_int **)

let amount i t =
  match find i t with
  | Some c -> c
  | None -> Big_int_Z.zero_big_int

(** val bump :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int trie ->
    Big_int_Z.big_int trie **)

let bump i c t =
  put i (Big_int_Z.add_big_int (amount i t) c) t

(** val merge :
    Big_int_Z.big_int -> Big_int_Z.big_int trie -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec merge i t = function
| [] -> []
| s :: q0 ->
  (Big_int_Z.add_big_int s (amount i t)) :: (merge
                                              (Big_int_Z.add_big_int i
                                                Big_int_Z.unit_big_int) t q0)

(** val zscale :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let zscale c q =
  map (Big_int_Z.mult_big_int c) q

(** val zplus :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec zplus a b =
  match a with
  | [] -> []
  | x :: a0 ->
    (match b with
     | [] -> []
     | y :: b0 -> (Big_int_Z.add_big_int x y) :: (zplus a0 b0))

(** val zeros : 'a1 list -> Big_int_Z.big_int list **)

let zeros l =
  map (fun _ -> Big_int_Z.zero_big_int) l

(** val ceil : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let ceil a b =
  Big_int_Z.add_big_int (Z.div a b) Big_int_Z.unit_big_int

(** val at_least : ratio -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let at_least r g h =
  (&&)
    ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int h)
      (Big_int_Z.le_big_int Big_int_Z.zero_big_int g))
    (match r with
     | Exp (a, b) ->
       (&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b)
         (match log false g h with
          | Some l ->
            Big_int_Z.le_big_int (Big_int_Z.mult_big_int a d)
              (Big_int_Z.mult_big_int b l)
          | None -> false)
     | Frac (a, b) ->
       (&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b)
         (Big_int_Z.le_big_int (Big_int_Z.mult_big_int a h)
           (Big_int_Z.mult_big_int g b)))

(** val at_most : ratio -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let at_most r g h =
  (&&)
    ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int h)
      (Big_int_Z.le_big_int Big_int_Z.zero_big_int g))
    (match r with
     | Exp (a, b) ->
       (&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b)
         (match log true g h with
          | Some u ->
            Big_int_Z.le_big_int (Big_int_Z.mult_big_int b u)
              (Big_int_Z.mult_big_int a d)
          | None -> false)
     | Frac (a, b) ->
       (&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b)
         (Big_int_Z.le_big_int (Big_int_Z.mult_big_int g b)
           (Big_int_Z.mult_big_int a h)))

type edge =
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) * Big_int_Z.big_int

type table =
| NoEdges
| Pairs of Big_int_Z.big_int * Big_int_Z.big_int * Big_int_Z.big_int
| Listed of edge trie

(** val edge_at : table -> Big_int_Z.big_int -> edge option **)

let edge_at t e =
  match t with
  | NoEdges -> None
  | Pairs (k, g, h) ->
    let x = Z.div e k in
    let z0 = Z.modulo e k in
    if (&&)
         ((&&)
           ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int k)
             (Big_int_Z.le_big_int Big_int_Z.zero_big_int x))
           (Big_int_Z.lt_big_int x k)) (negb (Big_int_Z.eq_big_int x z0))
    then Some (((x, z0), g), h)
    else None
  | Listed t0 -> find e t0

(** val join :
    (ratio -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool) ->
    Big_int_Z.big_int -> ((Big_int_Z.big_int * Big_int_Z.big_int) * ratio)
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> edge list option **)

let rec join ok k es gs =
  match es with
  | [] -> (match gs with
           | [] -> Some []
           | _ :: _ -> None)
  | p0 :: es0 ->
    let (p1, r) = p0 in
    let (x, z0) = p1 in
    (match gs with
     | [] -> None
     | p2 :: gs0 ->
       let (g, h) = p2 in
       if (&&)
            ((&&)
              ((&&)
                ((&&) (ok r g h)
                  (Big_int_Z.le_big_int Big_int_Z.zero_big_int x))
                (Big_int_Z.lt_big_int x k))
              (Big_int_Z.le_big_int Big_int_Z.zero_big_int z0))
            (Big_int_Z.lt_big_int z0 k)
       then (match join ok k es0 gs0 with
             | Some l -> Some ((((x, z0), g), h) :: l)
             | None -> None)
       else None)

(** val edges_of :
    Big_int_Z.big_int -> cone -> (Big_int_Z.big_int * Big_int_Z.big_int) list
    -> table option **)

let edges_of k c gs =
  match c with
  | Free -> (match gs with
             | [] -> Some NoEdges
             | _ :: _ -> None)
  | Complete r ->
    (match gs with
     | [] -> None
     | y :: l ->
       let (g, h) = y in
       (match l with
        | [] -> if at_least r g h then Some (Pairs (k, g, h)) else None
        | _ :: _ -> None))
  | Graph es ->
    (match join at_least k es gs with
     | Some l -> Some (Listed (number Big_int_Z.zero_big_int l Tip))
     | None -> None)
  | Robust (_, _, _, _) -> (match gs with
                            | [] -> Some NoEdges
                            | _ :: _ -> None)

type ent = { low : Big_int_Z.big_int; plow : Big_int_Z.big_int;
             high : (Big_int_Z.big_int * Big_int_Z.big_int) option }

type col = { ents : ent list;
             lims : (Big_int_Z.big_int * Big_int_Z.big_int) list }

type state = { own : Big_int_Z.big_int list; cols : col list }

type mult = { flows : (Big_int_Z.big_int * Big_int_Z.big_int) list;
              against : (Big_int_Z.big_int * Big_int_Z.big_int) list;
              along : Big_int_Z.big_int list }

type token =
| Split of Big_int_Z.big_int * Big_int_Z.big_int * Big_int_Z.big_int
| Fix of Big_int_Z.big_int
| Form of Big_int_Z.big_int * Big_int_Z.big_int
| EdgeUp of Big_int_Z.big_int * Big_int_Z.big_int
| EdgeLow of Big_int_Z.big_int * Big_int_Z.big_int
| Up of Big_int_Z.big_int * Big_int_Z.big_int * Big_int_Z.big_int * mult
| Low of Big_int_Z.big_int * Big_int_Z.big_int * Big_int_Z.big_int * mult
| Leaf of Big_int_Z.big_int list * mult
| Sheet of Big_int_Z.big_int list * Big_int_Z.big_int list
   * (Big_int_Z.big_int list * mult) list
| Closed of Big_int_Z.big_int * Big_int_Z.big_int

(** val phi_up : kind -> Big_int_Z.big_int -> Big_int_Z.big_int option **)

let phi_up kd c =
  if Big_int_Z.lt_big_int c Big_int_Z.zero_big_int
  then None
  else (match kd with
        | Plain -> Some Big_int_Z.zero_big_int
        | Entropic ->
          if Big_int_Z.eq_big_int c Big_int_Z.zero_big_int
          then Some Big_int_Z.zero_big_int
          else (match log true c d with
                | Some u -> Some (Big_int_Z.mult_big_int c u)
                | None -> None)
        | Square -> Some (Big_int_Z.mult_big_int c c))

type env = { knd : kind; unit_ : Big_int_Z.big_int;
             total_ : Big_int_Z.big_int; wts : Big_int_Z.big_int list;
             groups : Big_int_Z.big_int list list;
             corner : (Big_int_Z.big_int * Big_int_Z.big_int) option;
             edges : table; halfs : Big_int_Z.big_int list list;
             forms : Big_int_Z.big_int list list; couplings : row list;
             claim : (Big_int_Z.big_int * Big_int_Z.big_int); sheets : 
             bool }

(** val endsum :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> ent list ->
    Big_int_Z.big_int option **)

let rec endsum v q b =
  match v with
  | [] -> Some Big_int_Z.zero_big_int
  | w :: v0 ->
    (match q with
     | [] -> Some Big_int_Z.zero_big_int
     | s :: q0 ->
       (match b with
        | [] -> Some Big_int_Z.zero_big_int
        | e :: b0 ->
          (match endsum v0 q0 b0 with
           | Some r ->
             let first =
               Big_int_Z.add_big_int
                 (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int w e.plow) d)
                 (Big_int_Z.mult_big_int s e.low)
             in
             (match e.high with
              | Some p0 ->
                let (h, ph) = p0 in
                Some
                (Big_int_Z.add_big_int
                  (Big_int_Z.max_big_int first
                    (Big_int_Z.add_big_int
                      (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int w ph) d)
                      (Big_int_Z.mult_big_int s h))) r)
              | None ->
                if (&&) (Big_int_Z.eq_big_int w Big_int_Z.zero_big_int)
                     (Big_int_Z.le_big_int s Big_int_Z.zero_big_int)
                then Some (Big_int_Z.add_big_int first r)
                else None)
           | None -> None)))

(** val add_flows :
    table -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    Big_int_Z.big_int trie -> Big_int_Z.big_int trie option **)

let rec add_flows es l t =
  match l with
  | [] -> Some t
  | p0 :: l0 ->
    let (e, f) = p0 in
    (match edge_at es e with
     | Some e0 ->
       let (p1, h) = e0 in
       let (p2, g) = p1 in
       let (x, z0) = p2 in
       if Big_int_Z.le_big_int Big_int_Z.zero_big_int f
       then add_flows es l0
              (bump z0 (Big_int_Z.mult_big_int f g)
                (bump x
                  (Big_int_Z.minus_big_int (Big_int_Z.mult_big_int f h)) t))
       else None
     | None -> None)

(** val add_halfs :
    Big_int_Z.big_int list list -> (Big_int_Z.big_int * Big_int_Z.big_int)
    list -> Big_int_Z.big_int list -> Big_int_Z.big_int list option **)

let rec add_halfs hs l q =
  match l with
  | [] -> Some q
  | p0 :: l0 ->
    let (i, u) = p0 in
    (match nthz i hs with
     | Some c ->
       if Big_int_Z.le_big_int Big_int_Z.zero_big_int u
       then add_halfs hs l0 (zplus q (zscale (Big_int_Z.minus_big_int u) c))
       else None
     | None -> None)

(** val add_forms :
    Big_int_Z.big_int list list -> (Big_int_Z.big_int * Big_int_Z.big_int)
    list -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int -> Big_int_Z.big_int list * Big_int_Z.big_int **)

let rec add_forms fs ls ms q c =
  match fs with
  | [] -> (q, c)
  | f :: fs0 ->
    (match ls with
     | [] -> (q, c)
     | p0 :: ls0 ->
       let (a, b) = p0 in
       (match ms with
        | [] -> (q, c)
        | m :: ms0 ->
          add_forms fs0 ls0 ms0
            (zplus q
              (zscale (Big_int_Z.minus_big_int (Big_int_Z.mult_big_int m d))
                f))
            (Big_int_Z.add_big_int c
              (Big_int_Z.mult_big_int m
                (if Big_int_Z.le_big_int Big_int_Z.zero_big_int m
                 then b
                 else a)))))

(** val upper :
    env -> col -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int -> mult -> Big_int_Z.big_int option **)

let upper en c v q c0 m =
  match add_flows en.edges m.flows Tip with
  | Some t ->
    (match add_halfs en.halfs m.against (merge Big_int_Z.zero_big_int t q) with
     | Some q0 ->
       let (q1, c1) =
         add_forms en.forms c.lims m.along q0 Big_int_Z.zero_big_int
       in
       (match endsum v q1 c.ents with
        | Some r ->
          Some
            (Big_int_Z.add_big_int
              (Big_int_Z.add_big_int c0 (Big_int_Z.mult_big_int c1 d)) r)
        | None -> None)
     | None -> None)
  | None -> None

(** val not_above : Big_int_Z.big_int option -> bool **)

let not_above = function
| Some u -> Big_int_Z.le_big_int u Big_int_Z.zero_big_int
| None -> false

(** val tangents :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int -> (Big_int_Z.big_int
    list * Big_int_Z.big_int) option **)

let rec tangents gs ts q c =
  match gs with
  | [] -> (match ts with
           | [] -> Some (q, c)
           | _ :: _ -> None)
  | g :: gs0 ->
    (match ts with
     | [] -> None
     | t :: ts0 ->
       (match log false t d with
        | Some l ->
          tangents gs0 ts0 (zplus q (zscale (Big_int_Z.add_big_int d l) g))
            (Big_int_Z.add_big_int c (Big_int_Z.mult_big_int (zsum g) t))
        | None -> None))

(** val burden :
    env -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    ((Big_int_Z.big_int list * Big_int_Z.big_int list) * Big_int_Z.big_int)
    option **)

let burden en own0 ts =
  let e = en.unit_ in
  let t = en.total_ in
  let q = zscale (Big_int_Z.minus_big_int (Big_int_Z.mult_big_int d d)) own0
  in
  (match en.knd with
   | Plain ->
     (match ts with
      | [] -> Some (((zeros own0), q), Big_int_Z.zero_big_int)
      | _ :: _ -> None)
   | Entropic ->
     (match tangents en.groups ts (zeros own0) Big_int_Z.zero_big_int with
      | Some p0 ->
        let (r, c) = p0 in
        Some (((zscale e en.wts),
        (zplus q
          (zscale (Big_int_Z.minus_big_int (Big_int_Z.mult_big_int e d)) r))),
        (Big_int_Z.mult_big_int
          (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int e d) d) c))
      | None -> None)
   | Square ->
     (match en.corner with
      | Some p0 ->
        let (g, _) = p0 in
        (match ts with
         | [] -> None
         | r :: l ->
           (match l with
            | [] ->
              Some (((zeros own0),
                (zplus q
                  (zscale
                    (Big_int_Z.mult_big_int e
                      (Big_int_Z.sub_big_int
                        (ceil
                          (Big_int_Z.mult_big_int g
                            (Big_int_Z.mult_big_int r r)) d)
                        (Big_int_Z.mult_big_int d d))) en.wts))),
                (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int e t)
                  (Big_int_Z.sub_big_int
                    (Big_int_Z.add_big_int
                      (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int d d) d)
                      (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int g d) d))
                    (Big_int_Z.mult_big_int
                      (Big_int_Z.mult_big_int
                        (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
                          Big_int_Z.unit_big_int) g) r) d))))
            | _ :: _ -> None))
      | None ->
        (match ts with
         | [] ->
           Some (((zscale e en.wts), q),
             (Big_int_Z.minus_big_int
               (Big_int_Z.mult_big_int
                 (Big_int_Z.mult_big_int
                   (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int e t) d) d)
                 d)))
         | _ :: _ -> None)))

(** val leaf :
    env -> Big_int_Z.big_int list -> col -> Big_int_Z.big_int list -> mult ->
    bool **)

let leaf en own0 c ts m =
  match burden en own0 ts with
  | Some p0 ->
    let (p1, c0) = p0 in let (v, q) = p1 in not_above (upper en c v q c0 m)
  | None -> false

(** val add_terms :
    Big_int_Z.big_int -> Big_int_Z.big_int -> terms -> Big_int_Z.big_int trie
    -> Big_int_Z.big_int trie **)

let rec add_terms k c ts t =
  match ts with
  | [] -> t
  | p0 :: ts0 ->
    let (p1, a) = p0 in
    let (x, y) = p1 in
    add_terms k c ts0
      (bump (Big_int_Z.add_big_int (Big_int_Z.mult_big_int y k) x)
        (Big_int_Z.mult_big_int c a) t)

(** val add_rows :
    Big_int_Z.big_int -> Big_int_Z.big_int -> row list -> Big_int_Z.big_int
    list -> Big_int_Z.big_int trie -> Big_int_Z.big_int -> (Big_int_Z.big_int
    trie * Big_int_Z.big_int) option **)

let rec add_rows k c rs ls t b =
  match rs with
  | [] -> (match ls with
           | [] -> Some (t, b)
           | _ :: _ -> None)
  | r :: rs0 ->
    (match ls with
     | [] -> None
     | l :: ls0 ->
       if (||) r.equal (Big_int_Z.le_big_int Big_int_Z.zero_big_int l)
       then add_rows k c rs0 ls0
              (if Big_int_Z.eq_big_int l Big_int_Z.zero_big_int
               then t
               else add_terms k (Big_int_Z.mult_big_int c l) r.coefficients t)
              (Big_int_Z.add_big_int b (Big_int_Z.mult_big_int l r.right))
       else None)

(** val pays :
    (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> bool **)

let pays cl e sum =
  Big_int_Z.le_big_int (Big_int_Z.mult_big_int sum (snd cl))
    (Big_int_Z.mult_big_int (fst cl) e)

(** val sheet :
    env -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list
    -> Big_int_Z.big_int trie -> col list -> (Big_int_Z.big_int list * mult)
    list -> bool **)

let rec sheet en k y a t cs parts0 =
  match cs with
  | [] -> (match parts0 with
           | [] -> true
           | _ :: _ -> false)
  | c :: cs0 ->
    (match parts0 with
     | [] -> false
     | p0 :: parts1 ->
       let (ts, m) = p0 in
       (&&)
         (leaf en (zscale en.total_ (merge (Big_int_Z.mult_big_int y k) t a))
           c ts m)
         (sheet en k (Big_int_Z.add_big_int y Big_int_Z.unit_big_int) a t cs0
           parts1))

(** val set_high :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> col -> col **)

let set_high x h p0 c =
  { ents =
    (updz x (fun e -> { low = e.low; plow = e.plow; high = (Some (h, p0)) })
      c.ents); lims = c.lims }

(** val set_low :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> col -> col **)

let set_low x l p0 c =
  { ents = (updz x (fun e -> { low = l; plow = p0; high = e.high }) c.ents);
    lims = c.lims }

(** val set_ent : Big_int_Z.big_int -> ent -> col -> col **)

let set_ent x e c =
  { ents = (updz x (fun _ -> e) c.ents); lims = c.lims }

(** val set_lims :
    Big_int_Z.big_int -> ((Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int) -> col -> col **)

let set_lims i f c =
  { ents = c.ents; lims = (updz i f c.lims) }

(** val with_col : Big_int_Z.big_int -> (col -> col) -> state -> state **)

let with_col y f st =
  { own = st.own; cols = (updz y f st.cols) }

(** val ent_at :
    state -> Big_int_Z.big_int -> Big_int_Z.big_int -> ent option **)

let ent_at st y x =
  match nthz y st.cols with
  | Some c -> nthz x c.ents
  | None -> None

(** val unit_at :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let unit_at n0 x q =
  updz x (fun s -> Big_int_Z.add_big_int s n0) q

(** val step : env -> token -> state -> state list option **)

let step en tok st =
  match tok with
  | Split (y, x, c) ->
    (match ent_at st y x with
     | Some _ ->
       (match phi_up en.knd c with
        | Some p0 ->
          Some
            ((with_col y (set_high x c p0) st) :: ((with_col y
                                                     (set_low x c p0) st) :: []))
        | None -> None)
     | None -> None)
  | Fix x ->
    (match en.corner with
     | Some p0 ->
       let (g, p1) = p0 in
       (match ent_at st Big_int_Z.zero_big_int x with
        | Some _ ->
          (match phi_up en.knd d with
           | Some p2 ->
             Some
               ((with_col Big_int_Z.zero_big_int
                  (set_ent x { low = g; plow = p1; high = (Some (g, p1)) })
                  st) :: ((with_col Big_int_Z.zero_big_int
                            (set_ent x { low = d; plow = p2; high = (Some (d,
                              p2)) }) st) :: []))
           | None -> None)
        | None -> None)
     | None -> None)
  | Form (i, n0) ->
    (match en.corner with
     | Some p0 ->
       let (g, _) = p0 in
       (match nthz i en.forms with
        | Some f ->
          let edge0 = fun n1 ->
            Big_int_Z.add_big_int (Big_int_Z.mult_big_int (zsum f) d)
              (Big_int_Z.mult_big_int (Big_int_Z.sub_big_int g d) n1)
          in
          Some
          ((with_col Big_int_Z.zero_big_int
             (set_lims i (fun ab -> ((fst ab), (edge0 n0)))) st) :: (
          (with_col Big_int_Z.zero_big_int
            (set_lims i (fun ab ->
              ((edge0 (Big_int_Z.add_big_int n0 Big_int_Z.unit_big_int)),
              (snd ab)))) st) :: []))
        | None -> None)
     | None -> None)
  | EdgeUp (y, e) ->
    (match edge_at en.edges e with
     | Some e0 ->
       let (p0, h) = e0 in
       let (p1, g) = p0 in
       let (x, z0) = p1 in
       (match ent_at st y x with
        | Some _ ->
          (match ent_at st y z0 with
           | Some e1 ->
             (match e1.high with
              | Some p2 ->
                let (c, _) = p2 in
                let c0 = ceil (Big_int_Z.mult_big_int g c) h in
                (match phi_up en.knd c0 with
                 | Some p3 -> Some ((with_col y (set_high x c0 p3) st) :: [])
                 | None -> None)
              | None -> None)
           | None -> None)
        | None -> None)
     | None -> None)
  | EdgeLow (y, e) ->
    (match edge_at en.edges e with
     | Some e0 ->
       let (p0, h) = e0 in
       let (p1, g) = p0 in
       let (x, z0) = p1 in
       (match ent_at st y x with
        | Some e1 ->
          (match ent_at st y z0 with
           | Some _ ->
             if Big_int_Z.lt_big_int Big_int_Z.zero_big_int g
             then let c = Z.div (Big_int_Z.mult_big_int e1.low h) g in
                  (match phi_up en.knd c with
                   | Some p2 -> Some ((with_col y (set_low z0 c p2) st) :: [])
                   | None -> None)
             else None
           | None -> None)
        | None -> None)
     | None -> None)
  | Up (y, x, c, m) ->
    (match nthz y st.cols with
     | Some cl ->
       (match ent_at st y x with
        | Some _ ->
          (match phi_up en.knd c with
           | Some p0 ->
             let o = zeros en.wts in
             if not_above
                  (upper en cl o (unit_at (Big_int_Z.mult_big_int d d) x o)
                    (Big_int_Z.minus_big_int
                      (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int c d) d))
                    m)
             then Some ((with_col y (set_high x c p0) st) :: [])
             else None
           | None -> None)
        | None -> None)
     | None -> None)
  | Low (y, x, c, m) ->
    (match nthz y st.cols with
     | Some cl ->
       (match ent_at st y x with
        | Some _ ->
          (match phi_up en.knd c with
           | Some p0 ->
             let o = zeros en.wts in
             if not_above
                  (upper en cl o
                    (unit_at
                      (Big_int_Z.minus_big_int (Big_int_Z.mult_big_int d d))
                      x o)
                    (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int c d) d) m)
             then Some ((with_col y (set_low x c p0) st) :: [])
             else None
           | None -> None)
        | None -> None)
     | None -> None)
  | Leaf (ts, m) ->
    if en.sheets
    then None
    else (match st.cols with
          | [] -> None
          | c :: l ->
            (match l with
             | [] -> if leaf en st.own c ts m then Some [] else None
             | _ :: _ -> None))
  | Sheet (a, ls, parts0) ->
    if negb en.sheets
    then None
    else let k = zlen en.wts in
         (match add_rows k Big_int_Z.unit_big_int en.couplings ls Tip
                  Big_int_Z.zero_big_int with
          | Some p0 ->
            let (t, b) = p0 in
            if (&&)
                 ((&&) (alike a en.wts)
                   (pays en.claim en.unit_ (Big_int_Z.add_big_int (zsum a) b)))
                 (sheet en k Big_int_Z.zero_big_int a t st.cols parts0)
            then Some []
            else None
          | None -> None)
  | Closed (y, x) ->
    (match ent_at st y x with
     | Some e ->
       (match e.high with
        | Some p0 ->
          let (h, _) = p0 in
          if Big_int_Z.lt_big_int h e.low then Some [] else None
        | None -> None)
     | None -> None)

(** val advance : env -> token -> state list -> state list option **)

let advance en tok = function
| [] -> None
| st :: stack0 ->
  (match step en tok st with
   | Some l -> Some (app l stack0)
   | None -> None)

(** val run : env -> token list -> state list -> bool **)

let rec run en toks stack =
  match toks with
  | [] -> (match stack with
           | [] -> true
           | _ :: _ -> false)
  | tok :: toks0 ->
    (match advance en tok stack with
     | Some stack0 -> run en toks0 stack0
     | None -> false)

type mode =
| Dual
| Corner
| Box
| Sheets
| Known

type header = { mod_ : mode; eunit : Big_int_Z.big_int;
                prices : Big_int_Z.big_int list;
                mults : Big_int_Z.big_int list;
                pairs : (Big_int_Z.big_int * Big_int_Z.big_int) list }

(** val term_ok :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) -> bool **)

let term_ok k m = function
| (p0, _) ->
  let (x, y) = p0 in
  (&&)
    ((&&)
      ((&&) (Big_int_Z.le_big_int Big_int_Z.zero_big_int x)
        (Big_int_Z.lt_big_int x k))
      (Big_int_Z.le_big_int Big_int_Z.zero_big_int y))
    (Big_int_Z.lt_big_int y m)

(** val count : problem -> Big_int_Z.big_int **)

let count pb =
  match pb.outputs with
  | Some m -> m
  | None -> Big_int_Z.zero_big_int

(** val same : Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool **)

let rec same a b =
  match a with
  | [] -> (match b with
           | [] -> true
           | _ :: _ -> false)
  | x :: a0 ->
    (match b with
     | [] -> false
     | y :: b0 -> (&&) (Big_int_Z.eq_big_int x y) (same a0 b0))

(** val nonnegative : Big_int_Z.big_int list -> bool **)

let nonnegative l =
  forallb (Big_int_Z.le_big_int Big_int_Z.zero_big_int) l

(** val well_formed : problem -> bool **)

let well_formed pb =
  let w = pb.weights in
  let k = zlen w in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (nonnegative w)
            (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (zsum w)))
          (forallb (fun c -> alike c w) pb.halfspaces))
        (match pb.outputs with
         | Some m -> Big_int_Z.lt_big_int Big_int_Z.zero_big_int m
         | None -> (match pb.rows with
                    | [] -> true
                    | _ :: _ -> false)))
      (forallb (fun r -> forallb (term_ok k (count pb)) r.coefficients)
        pb.rows))
    (match pb.objective with
     | Linear (den, cost) ->
       (&&)
         ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int den)
           (match pb.outputs with
            | Some _ -> true
            | None -> false)) (forallb (term_ok k (count pb)) cost)
     | Bayes (den, gains0) ->
       (&&)
         ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int den)
           (match gains0 with
            | [] -> false
            | _ :: _ -> true)) (forallb (fun g -> alike g w) gains0)
     | Information gs ->
       (&&) (forallb (fun g -> (&&) (alike g w) (nonnegative g)) gs)
         (same (fold_right zplus (zeros w) gs) w)
     | ChiSquare -> true)

(** val iota :
    Big_int_Z.big_int -> nat -> (Big_int_Z.big_int -> 'a1) -> 'a1 list **)

let rec iota i n0 f =
  match n0 with
  | O -> []
  | S n1 ->
    (f i) :: (iota (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) n1 f)

(** val numbers :
    Big_int_Z.big_int -> (Big_int_Z.big_int -> 'a1) -> 'a1 list **)

let numbers n0 f =
  iota Big_int_Z.zero_big_int (Z.to_nat n0) f

(** val roots :
    kind -> Big_int_Z.big_int -> Big_int_Z.big_int list -> ent list option **)

let rec roots kd t = function
| [] -> Some []
| w0 :: w1 ->
  (match roots kd t w1 with
   | Some l ->
     if Big_int_Z.lt_big_int Big_int_Z.zero_big_int w0
     then let c = ceil (Big_int_Z.mult_big_int t d) w0 in
          (match phi_up kd c with
           | Some p0 ->
             Some ({ low = Big_int_Z.zero_big_int; plow =
               Big_int_Z.zero_big_int; high = (Some (c, p0)) } :: l)
           | None -> None)
     else Some ({ low = Big_int_Z.zero_big_int; plow =
            Big_int_Z.zero_big_int; high = None } :: l)
   | None -> None)

(** val tests : problem -> header -> Big_int_Z.big_int list list option **)

let tests pb hd =
  let w = pb.weights in
  let t = zsum w in
  let k = zlen w in
  let e = hd.eunit in
  let a = hd.prices in
  (match pb.objective with
   | Linear (den, cost) ->
     (match add_rows k den pb.rows hd.mults
              (add_terms k (Big_int_Z.minus_big_int e) cost Tip)
              Big_int_Z.zero_big_int with
      | Some p0 ->
        let (t0, _) = p0 in
        Some
        (numbers (count pb) (fun y ->
          merge (Big_int_Z.mult_big_int y k) t0 (zscale den a)))
      | None -> None)
   | Bayes (den, gains0) ->
     (match pb.rows with
      | [] ->
        Some
          (map (fun g ->
            zplus (zscale (Big_int_Z.mult_big_int den t) a)
              (zscale (Big_int_Z.minus_big_int e) (products w g))) gains0)
      | _ :: _ -> None)
   | _ -> None)

(** val entropy_prices :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> bool **)

let rec entropy_prices e t w a =
  match w with
  | [] -> true
  | w0 :: w1 ->
    (match a with
     | [] -> true
     | a0 :: a1 ->
       (&&)
         (if Big_int_Z.eq_big_int w0 Big_int_Z.zero_big_int
          then Big_int_Z.le_big_int Big_int_Z.zero_big_int a0
          else (match log true t w0 with
                | Some u ->
                  Big_int_Z.le_big_int
                    (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int e w0) u)
                    (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int t a0) d)
                | None -> false)) (entropy_prices e t w1 a1))

(** val start :
    problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> header ->
    (env * state list) option **)

let start pb cl hd =
  let w = pb.weights in
  let t = zsum w in
  let e = hd.eunit in
  let k = zlen w in
  let a = hd.prices in
  if negb
       ((&&)
         ((&&) (well_formed pb)
           (Big_int_Z.lt_big_int Big_int_Z.zero_big_int e))
         (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (snd cl)))
  then None
  else (match edges_of k pb.base hd.pairs with
        | Some es ->
          (match add_rows k Big_int_Z.unit_big_int pb.rows
                   (match hd.mod_ with
                    | Dual -> hd.mults
                    | _ -> map (fun _ -> Big_int_Z.zero_big_int) pb.rows) Tip
                   Big_int_Z.zero_big_int with
           | Some p0 ->
             let (_, b) = p0 in
             if negb
                  (match hd.mod_ with
                   | Sheets -> true
                   | _ ->
                     (&&) (alike a w)
                       (pays cl e (Big_int_Z.add_big_int (zsum a) b)))
             then None
             else let gs =
                    match pb.objective with
                    | Linear (_, _) -> []
                    | Bayes (_, _) -> []
                    | Information gs -> gs
                    | ChiSquare -> []
                  in
                  let kd =
                    match pb.objective with
                    | Linear (_, _) -> None
                    | Bayes (_, _) -> None
                    | Information _ -> Some Entropic
                    | ChiSquare -> Some Square
                  in
                  let ones0 = map (fun _ -> Big_int_Z.unit_big_int) w in
                  let env0 = fun kd0 forms0 sh0 -> { knd = kd0; unit_ = e;
                    total_ = t; wts = w; groups = gs; corner = None; edges =
                    es; halfs = pb.halfspaces; forms = forms0; couplings =
                    pb.rows; claim = cl; sheets = sh0 }
                  in
                  let single0 =
                    match gs with
                    | [] -> false
                    | g :: l ->
                      (match l with
                       | [] -> same g w
                       | _ :: _ -> false)
                  in
                  (match hd.mod_ with
                   | Dual ->
                     (match kd with
                      | Some _ -> None
                      | None ->
                        (match tests pb hd with
                         | Some qs ->
                           let root =
                             match es with
                             | Pairs (_, g, h) ->
                               if Big_int_Z.le_big_int h g
                               then Some
                                      (map (fun _ -> { low = h; plow =
                                        Big_int_Z.zero_big_int; high = (Some
                                        (g, Big_int_Z.zero_big_int)) }) w)
                               else None
                             | _ ->
                               Some
                                 (map (fun _ -> { low =
                                   Big_int_Z.zero_big_int; plow =
                                   Big_int_Z.zero_big_int; high = None }) w)
                           in
                           (match root with
                            | Some r ->
                              Some ((env0 Plain [] false),
                                (map (fun q -> { own = q; cols = ({ ents = r;
                                  lims = [] } :: []) }) qs))
                            | None -> None)
                         | None -> None))
                   | Corner ->
                     (match kd with
                      | Some kd0 ->
                        (match es with
                         | Pairs (_, g, h) ->
                           (match phi_up kd0 d with
                            | Some p1 ->
                              if (&&)
                                   ((&&) (Big_int_Z.eq_big_int h d)
                                     (Big_int_Z.le_big_int d g))
                                   (match kd0 with
                                    | Entropic -> single0
                                    | _ -> true)
                              then (match phi_up kd0 g with
                                    | Some p2 ->
                                      Some ({ knd = kd0; unit_ = e; total_ =
                                        t; wts = w; groups = gs; corner =
                                        (Some (g, p2)); edges = NoEdges;
                                        halfs = []; forms =
                                        (w :: (ones0 :: [])); couplings =
                                        pb.rows; claim = cl; sheets =
                                        false }, ({ own = (zscale t a);
                                        cols = ({ ents =
                                        (map (fun _ -> { low = d; plow = p1;
                                          high = (Some (g, p2)) }) w); lims =
                                        (((Big_int_Z.mult_big_int t d),
                                        (Big_int_Z.mult_big_int t g)) :: ((
                                        (Big_int_Z.mult_big_int k d),
                                        (Big_int_Z.mult_big_int k g)) :: [])) } :: []) } :: []))
                                    | None -> None)
                              else None
                            | None -> None)
                         | _ -> None)
                      | None -> None)
                   | Box ->
                     (match kd with
                      | Some kd0 ->
                        (match roots kd0 t w with
                         | Some r ->
                           Some ((env0 kd0 (w :: []) false), ({ own =
                             (zscale t a); cols = ({ ents = r; lims =
                             (((Big_int_Z.mult_big_int t d),
                             (Big_int_Z.mult_big_int t d)) :: []) } :: []) } :: []))
                         | None -> None)
                      | None -> None)
                   | Sheets ->
                     (match kd with
                      | Some kd0 ->
                        (match roots kd0 t w with
                         | Some r ->
                           (match pb.outputs with
                            | Some m ->
                              if forallb
                                   (Big_int_Z.lt_big_int
                                     Big_int_Z.zero_big_int) w
                              then Some ((env0 kd0 (w :: []) true), ({ own =
                                     []; cols =
                                     (numbers m (fun _ -> { ents = r; lims =
                                       (((Big_int_Z.mult_big_int t d),
                                       (Big_int_Z.mult_big_int t d)) :: []) })) } :: []))
                              else None
                            | None -> None)
                         | None -> None)
                      | None -> None)
                   | Known ->
                     (match kd with
                      | Some k0 ->
                        (match k0 with
                         | Entropic ->
                           if (&&) single0 (entropy_prices e t w a)
                           then Some ((env0 Plain [] false), [])
                           else None
                         | _ -> None)
                      | None -> None))
           | None -> None)
        | None -> None)

(** val verify :
    problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> header -> token
    list -> bool **)

let verify pb cl hd toks =
  match start pb cl hd with
  | Some p0 -> let (en, stack) = p0 in run en toks stack
  | None -> false

(** val emptied : problem -> problem **)

let emptied pb =
  { weights = pb.weights; objective =
    (match pb.outputs with
     | Some _ -> Linear (Big_int_Z.unit_big_int, [])
     | None -> Bayes (Big_int_Z.unit_big_int, ((zeros pb.weights) :: [])));
    base = pb.base; halfspaces = pb.halfspaces; outputs = pb.outputs; rows =
    pb.rows }

(** val refute :
    problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> header -> token
    list -> bool **)

let refute pb cl hd toks =
  (&&) (Big_int_Z.lt_big_int (fst cl) Big_int_Z.zero_big_int)
    (verify (emptied pb) cl hd toks)

(** val kind_of : problem -> kind **)

let kind_of pb =
  match pb.objective with
  | Information _ -> Entropic
  | ChiSquare -> Square
  | _ -> Plain

(** val groups_of : problem -> Big_int_Z.big_int list list **)

let groups_of pb =
  match pb.objective with
  | Information gs -> gs
  | _ -> []

(** val zdot :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec zdot a b =
  match a with
  | [] -> Big_int_Z.zero_big_int
  | x :: a0 ->
    (match b with
     | [] -> Big_int_Z.zero_big_int
     | y :: b0 ->
       Big_int_Z.add_big_int (Big_int_Z.mult_big_int x y) (zdot a0 b0))

(** val most : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec most = function
| [] -> Big_int_Z.zero_big_int
| a :: l0 -> Big_int_Z.max_big_int a (most l0)

(** val least_of :
    Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let rec least_of l w =
  match l with
  | [] -> w
  | a :: l0 -> Big_int_Z.min_big_int a (least_of l0 w)

(** val cells : Big_int_Z.big_int list list -> Big_int_Z.big_int trie **)

let cells cols0 =
  number Big_int_Z.zero_big_int (concat cols0) Tip

(** val zform :
    Big_int_Z.big_int -> Big_int_Z.big_int trie -> terms -> Big_int_Z.big_int **)

let rec zform k t = function
| [] -> Big_int_Z.zero_big_int
| p0 :: ts0 ->
  let (p1, c) = p0 in
  let (x, y) = p1 in
  Big_int_Z.add_big_int
    (Big_int_Z.mult_big_int c
      (amount (Big_int_Z.add_big_int (Big_int_Z.mult_big_int y k) x) t))
    (zform k t ts0)

(** val edge_holds : Big_int_Z.big_int trie -> edge -> bool **)

let edge_holds t = function
| (p0, h) ->
  let (p1, g) = p0 in
  let (x, z0) = p1 in
  Big_int_Z.le_big_int (Big_int_Z.mult_big_int (amount x t) h)
    (Big_int_Z.mult_big_int g (amount z0 t))

(** val marks :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let marks l q =
  fold_right (unit_at Big_int_Z.unit_big_int) q l

(** val robust_ok :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list list -> bool **)

let robust_ok k den low0 sets =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&)
                ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int den)
                  (Big_int_Z.eq_big_int (zlen low0) k))
                (Big_int_Z.le_big_int k (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                  (Big_int_Z.mult_int_big_int 2
                  Big_int_Z.unit_big_int)))))))))))) (nonnegative low0))
            (Big_int_Z.le_big_int (Big_int_Z.mult_int_big_int 2
              Big_int_Z.unit_big_int) (zlen sets)))
          (forallb (fun b -> match b with
                             | [] -> false
                             | _ :: _ -> true) sets))
        (forallb (fun x ->
          (&&) (Big_int_Z.le_big_int Big_int_Z.zero_big_int x)
            (Big_int_Z.lt_big_int x k)) (concat sets)))
      (forallb (Big_int_Z.eq_big_int Big_int_Z.unit_big_int)
        (marks (concat sets) (zeros low0))))
    (forallb (fun b ->
      let l = pick Big_int_Z.zero_big_int b low0 in
      (||) (Big_int_Z.lt_big_int (zsum l) den)
        ((&&) (Big_int_Z.eq_big_int (zsum l) den)
          (forallb (Big_int_Z.lt_big_int Big_int_Z.zero_big_int) l))) sets)

(** val block_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int * Big_int_Z.big_int **)

let block_ends den low0 q b =
  let l = pick Big_int_Z.zero_big_int b low0 in
  let v = pick Big_int_Z.zero_big_int b q in
  let s = zdot l v in
  let rest = Big_int_Z.sub_big_int den (zsum l) in
  ((Big_int_Z.add_big_int (Big_int_Z.mult_big_int rest (most v)) s),
  (Big_int_Z.add_big_int (Big_int_Z.mult_big_int rest (least_of v (most v)))
    s))

(** val below_all :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool **)

let rec below_all g h i m j = function
| [] -> true
| p0 :: es0 ->
  let (_, m0) = p0 in
  (&&)
    ((||) (Big_int_Z.eq_big_int i j)
      (Big_int_Z.le_big_int (Big_int_Z.mult_big_int h m)
        (Big_int_Z.mult_big_int g m0)))
    (below_all g h i m (Big_int_Z.add_big_int j Big_int_Z.unit_big_int) es0)

(** val pairs_below :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool **)

let rec pairs_below g h i all = function
| [] -> true
| p0 :: es0 ->
  let (m, _) = p0 in
  (&&) (below_all g h i m Big_int_Z.zero_big_int all)
    (pairs_below g h (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) all es0)

(** val robust_holds :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list -> bool **)

let robust_holds g h den low0 sets q =
  let es = map (block_ends den low0 q) sets in
  pairs_below g h Big_int_Z.zero_big_int es es

(** val cone_holds :
    cone -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list
    -> Big_int_Z.big_int list list -> bool **)

let cone_holds c k lows cols0 =
  match c with
  | Free -> true
  | Complete r ->
    (match lows with
     | [] -> false
     | p0 :: l ->
       let (g, h) = p0 in
       (match l with
        | [] ->
          (&&) (at_most r g h)
            (forallb (fun q ->
              Big_int_Z.le_big_int (Big_int_Z.mult_big_int (most q) h)
                (Big_int_Z.mult_big_int g (least_of q (most q)))) cols0)
        | _ :: _ -> false))
  | Graph es ->
    (match join at_most k es lows with
     | Some l ->
       forallb (fun q ->
         let t = number Big_int_Z.zero_big_int q Tip in
         forallb (edge_holds t) l) cols0
     | None -> false)
  | Robust (r, den, low0, sets) ->
    (match lows with
     | [] -> false
     | p0 :: l ->
       let (g, h) = p0 in
       (match l with
        | [] ->
          (&&) ((&&) (at_most r g h) (robust_ok k den low0 sets))
            (forallb (robust_holds g h den low0 sets) cols0)
        | _ :: _ -> false))

(** val row_holds :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int trie -> row
    -> bool **)

let row_holds k d0 t r =
  let s = zform k t r.coefficients in
  if r.equal
  then Big_int_Z.eq_big_int s (Big_int_Z.mult_big_int r.right d0)
  else Big_int_Z.le_big_int s (Big_int_Z.mult_big_int r.right d0)

(** val rows_hold :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    row list -> bool **)

let rows_hold k d0 cols0 rs = match rs with
| [] -> true
| _ :: _ -> let t = cells cols0 in forallb (row_holds k d0 t) rs

(** val place :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list option **)

let rec place n0 g = function
| [] -> None
| p0 :: l0 ->
  let (m, h) = p0 in
  if Big_int_Z.eq_big_int n0 m
  then Some ((m, (Big_int_Z.add_big_int h g)) :: l0)
  else (match place n0 g l0 with
        | Some l1 -> Some ((m, h) :: l1)
        | None -> None)

(** val gather :
    Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let rec gather g q memo =
  match g with
  | [] -> memo
  | g0 :: g1 ->
    (match q with
     | [] -> memo
     | n0 :: q0 ->
       (match place n0 g0 memo with
        | Some memo0 -> gather g1 q0 memo0
        | None ->
          app
            (skipn (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
              O))))))))))))))) memo)
            (gather g1 q0 ((n0,
              g0) :: (firstn (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
                       O))))))))))))))) memo)))))

(** val gathered :
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int **)

let rec gathered = function
| [] -> Big_int_Z.zero_big_int
| p0 :: l0 ->
  let (n0, g) = p0 in
  Big_int_Z.add_big_int (Big_int_Z.mult_big_int g n0) (gathered l0)

(** val logs_below :
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int ->
    Big_int_Z.big_int option **)

let rec logs_below l d0 =
  match l with
  | [] -> Some Big_int_Z.zero_big_int
  | p0 :: l0 ->
    let (n0, g) = p0 in
    (match logs_below l0 d0 with
     | Some s ->
       if (||) (Big_int_Z.eq_big_int g Big_int_Z.zero_big_int)
            (Big_int_Z.eq_big_int n0 Big_int_Z.zero_big_int)
       then Some s
       else (match log false n0 d0 with
             | Some b ->
               Some
                 (Big_int_Z.add_big_int
                   (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int g n0) b) s)
             | None -> None)
     | None -> None)

(** val group_below :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    Big_int_Z.big_int option **)

let group_below g q d0 =
  let l = gather g q [] in
  let s = gathered l in
  (match logs_below l d0 with
   | Some a ->
     if Big_int_Z.eq_big_int s Big_int_Z.zero_big_int
     then Some a
     else (match log true s (Big_int_Z.mult_big_int (zsum g) d0) with
           | Some u ->
             Some (Big_int_Z.sub_big_int a (Big_int_Z.mult_big_int s u))
           | None -> None)
   | None -> None)

(** val sum_all :
    ('a1 -> Big_int_Z.big_int option) -> 'a1 list -> Big_int_Z.big_int option **)

let rec sum_all f = function
| [] -> Some Big_int_Z.zero_big_int
| a :: l0 ->
  (match f a with
   | Some x ->
     (match sum_all f l0 with
      | Some y -> Some (Big_int_Z.add_big_int x y)
      | None -> None)
   | None -> None)

(** val square_below :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    option **)

let square_below w q =
  let s = zdot w q in
  Some
  (if Big_int_Z.eq_big_int s Big_int_Z.zero_big_int
   then Big_int_Z.zero_big_int
   else Big_int_Z.sub_big_int
          (Z.div
            (Big_int_Z.mult_big_int
              (Big_int_Z.mult_big_int (zsum w)
                (zdot w (map (fun n0 -> Big_int_Z.mult_big_int n0 n0) q))) d)
            s) (Big_int_Z.mult_big_int s d))

(** val best_gain :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list list -> Big_int_Z.big_int **)

let rec best_gain w q = function
| [] -> Big_int_Z.zero_big_int
| g :: gains1 ->
  (match gains1 with
   | [] -> zdot (products w g) q
   | _ :: _ ->
     Big_int_Z.max_big_int (zdot (products w g) q) (best_gain w q gains1))

(** val value_holds :
    problem -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list list -> bool **)

let value_holds pb n0 m d0 cols0 =
  let w = pb.weights in
  let t = zsum w in
  (match pb.objective with
   | Linear (den, cost) ->
     Big_int_Z.le_big_int
       (Big_int_Z.mult_big_int n0 (Big_int_Z.mult_big_int den d0))
       (Big_int_Z.mult_big_int (zform (zlen w) (cells cols0) cost) m)
   | Bayes (den, gains0) ->
     (match sum_all (fun q -> Some (best_gain w q gains0)) cols0 with
      | Some s ->
        Big_int_Z.le_big_int
          (Big_int_Z.mult_big_int n0
            (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int t den) d0))
          (Big_int_Z.mult_big_int s m)
      | None -> false)
   | Information gs ->
     (match sum_all (fun q -> sum_all (fun g -> group_below g q d0) gs) cols0 with
      | Some s ->
        Big_int_Z.le_big_int
          (Big_int_Z.mult_big_int n0
            (Big_int_Z.mult_big_int t (Big_int_Z.mult_big_int d d0)))
          (Big_int_Z.mult_big_int s m)
      | None -> false)
   | ChiSquare ->
     (match sum_all (square_below w) cols0 with
      | Some s ->
        Big_int_Z.le_big_int
          (Big_int_Z.mult_big_int n0
            (Big_int_Z.mult_big_int t (Big_int_Z.mult_big_int d d0)))
          (Big_int_Z.mult_big_int s m)
      | None -> false))

(** val attains :
    problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int
    -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int list
    list -> bool **)

let attains pb cl d0 lows cols0 =
  let w = pb.weights in
  let k = zlen w in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&)
                ((&&)
                  ((&&) (well_formed pb)
                    (Big_int_Z.lt_big_int Big_int_Z.zero_big_int d0))
                  (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (snd cl)))
                (forallb (fun q -> (&&) (alike q w) (nonnegative q)) cols0))
              (same (fold_right zplus (zeros w) cols0) (map (fun _ -> d0) w)))
            (cone_holds pb.base k lows cols0))
          (forallb (fun q ->
            forallb (fun c ->
              Big_int_Z.le_big_int (zdot c q) Big_int_Z.zero_big_int)
              pb.halfspaces) cols0))
        (match pb.outputs with
         | Some m -> Big_int_Z.eq_big_int (zlen cols0) m
         | None -> true)) (rows_hold k d0 cols0 pb.rows))
    (value_holds pb (fst cl) (snd cl) d0 cols0)

(** val slopes :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> (Big_int_Z.big_int
    list * Big_int_Z.big_int) option **)

let rec slopes s t =
  match s with
  | [] ->
    (match t with
     | [] -> Some ([], Big_int_Z.zero_big_int)
     | _ :: _ -> None)
  | a :: s0 ->
    (match t with
     | [] -> None
     | p0 :: t0 ->
       (match slopes s0 t0 with
        | Some p1 ->
          let (c, r) = p1 in
          if Big_int_Z.eq_big_int a Big_int_Z.zero_big_int
          then Some ((Big_int_Z.zero_big_int :: c), r)
          else (match log false p0 d with
                | Some l ->
                  Some
                    (((Big_int_Z.mult_big_int a (Big_int_Z.add_big_int d l)) :: c),
                    (Big_int_Z.add_big_int (Big_int_Z.mult_big_int a p0) r))
                | None -> None)
        | None -> None))

(** val placed :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list -> terms **)

let rec placed x y = function
| [] -> []
| a :: c0 ->
  if Big_int_Z.eq_big_int a Big_int_Z.zero_big_int
  then placed (Big_int_Z.add_big_int x Big_int_Z.unit_big_int) y c0
  else ((x, y),
         a) :: (placed (Big_int_Z.add_big_int x Big_int_Z.unit_big_int) y c0)

(** val tangent_terms :
    Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int list
    list -> (terms * Big_int_Z.big_int) option **)

let rec tangent_terms s y = function
| [] -> Some ([], Big_int_Z.zero_big_int)
| t :: points0 ->
  (match slopes s t with
   | Some p0 ->
     let (c, r) = p0 in
     (match tangent_terms s (Big_int_Z.add_big_int y Big_int_Z.unit_big_int)
              points0 with
      | Some p1 ->
        let (l, r') = p1 in
        Some ((app (placed Big_int_Z.zero_big_int y c) l),
        (Big_int_Z.add_big_int r r'))
      | None -> None)
   | None -> None)

(** val logs_low :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    option **)

let rec logs_low s n0 =
  match s with
  | [] -> (match n0 with
           | [] -> Some Big_int_Z.zero_big_int
           | _ :: _ -> None)
  | a :: s0 ->
    (match n0 with
     | [] -> None
     | m :: n1 ->
       (match log false m Big_int_Z.unit_big_int with
        | Some l ->
          (match logs_low s0 n1 with
           | Some r ->
             Some (Big_int_Z.add_big_int (Big_int_Z.mult_big_int a l) r)
           | None -> None)
        | None -> None))

(** val floor_ok : problem -> floor -> bool **)

let floor_ok pb f =
  let (a, b) = f.part in
  (&&)
    ((&&)
      ((&&)
        ((&&) (Big_int_Z.le_big_int Big_int_Z.zero_big_int a)
          (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b))
        (alike f.shares pb.weights)) (nonnegative f.shares))
    (alike f.sizes pb.weights)

(** val floor_row :
    problem -> Big_int_Z.big_int list list -> floor -> row option **)

let floor_row pb points f =
  let (a, b) = f.part in
  if floor_ok pb f
  then (match tangent_terms (zscale b f.shares) Big_int_Z.zero_big_int points with
        | Some p0 ->
          let (l, r) = p0 in
          (match logs_low f.shares f.sizes with
           | Some w ->
             Some { equal = false; right =
               (Big_int_Z.sub_big_int r (Big_int_Z.mult_big_int a w));
               coefficients = l }
           | None -> None)
        | None -> None)
  else None

(** val floor_rows :
    problem -> Big_int_Z.big_int list list -> floor list -> row list option **)

let rec floor_rows pb points = function
| [] -> Some []
| f :: fs0 ->
  (match floor_row pb points f with
   | Some r ->
     (match floor_rows pb points fs0 with
      | Some l -> Some (r :: l)
      | None -> None)
   | None -> None)

(** val bonus_ok : problem -> Big_int_Z.big_int list -> bool **)

let bonus_ok pb b =
  (&&) ((&&) (alike b pb.weights) (nonnegative b))
    (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (zsum b))

(** val negated : terms -> terms **)

let negated l =
  map (fun t -> let (y0, c) = t in (y0, (Big_int_Z.minus_big_int c))) l

(** val bonus_cost :
    problem -> Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (utility * (Big_int_Z.big_int * Big_int_Z.big_int)) option **)

let bonus_cost pb b points cl =
  match b with
  | [] -> Some (pb.objective, cl)
  | _ :: _ ->
    (match pb.objective with
     | Linear (den, cost) ->
       ((fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
          (fun _ -> None)
          (fun p0 ->
          (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
            (fun _ -> None)
            (fun _ -> None)
            (fun _ ->
            match cost with
            | [] ->
              (match tangent_terms b Big_int_Z.zero_big_int points with
               | Some p1 ->
                 let (l, r) = p1 in
                 let u = Big_int_Z.mult_big_int (zsum b) d in
                 if (&&) (bonus_ok pb b)
                      (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (snd cl))
                 then Some ((Linear (u, (negated l))),
                        ((Big_int_Z.sub_big_int
                           (Big_int_Z.mult_big_int (fst cl) u)
                           (Big_int_Z.mult_big_int r (snd cl))),
                        (Big_int_Z.mult_big_int (snd cl) u)))
                 else None
               | None -> None)
            | _ :: _ -> None)
            p0)
          (fun _ -> None)
          den)
     | _ -> None)

(** val relax :
    with_entropy -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int list list ->
    (problem * (Big_int_Z.big_int * Big_int_Z.big_int)) option **)

let relax en cl points =
  let pb = en.plain in
  (match points with
   | [] ->
     (match en.bonus with
      | [] -> Some (pb, cl)
      | _ :: _ ->
        (match floor_rows pb points en.floors with
         | Some new0 ->
           (match bonus_cost pb en.bonus points cl with
            | Some p0 ->
              let (u, cl0) = p0 in
              (match pb.outputs with
               | Some m ->
                 if Big_int_Z.eq_big_int (zlen points) m
                 then Some ({ weights = pb.weights; objective = u; base =
                        pb.base; halfspaces = pb.halfspaces; outputs =
                        pb.outputs; rows = (app new0 pb.rows) }, cl0)
                 else None
               | None -> None)
            | None -> None)
         | None -> None))
   | _ :: _ ->
     (match floor_rows pb points en.floors with
      | Some new0 ->
        (match bonus_cost pb en.bonus points cl with
         | Some p0 ->
           let (u, cl0) = p0 in
           (match pb.outputs with
            | Some m ->
              if Big_int_Z.eq_big_int (zlen points) m
              then Some ({ weights = pb.weights; objective = u; base =
                     pb.base; halfspaces = pb.halfspaces; outputs =
                     pb.outputs; rows = (app new0 pb.rows) }, cl0)
              else None
            | None -> None)
         | None -> None)
      | None -> None))

(** val bare : with_entropy -> with_entropy **)

let bare en =
  { plain = en.plain; bonus = []; floors = en.floors }

(** val decide :
    with_entropy -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int list list -> header -> token list -> bool **)

let decide en cl points hd toks =
  match relax en cl points with
  | Some p0 -> let (pb, cl0) = p0 in verify pb cl0 hd toks
  | None -> false

(** val impossible :
    with_entropy -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int list list -> header -> token list -> bool **)

let impossible en cl points hd toks =
  match relax (bare en) cl points with
  | Some p0 -> let (pb, cl0) = p0 in refute pb cl0 hd toks
  | None -> false

(** val spread :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list -> Big_int_Z.big_int option **)

let rec spread a b d0 s n0 q =
  match s with
  | [] -> Some Big_int_Z.zero_big_int
  | g :: s0 ->
    (match n0 with
     | [] -> Some Big_int_Z.zero_big_int
     | m :: n1 ->
       (match q with
        | [] -> Some Big_int_Z.zero_big_int
        | v :: q0 ->
          (match spread a b d0 s0 n1 q0 with
           | Some r ->
             (match log (Big_int_Z.lt_big_int b a) m Big_int_Z.unit_big_int with
              | Some l ->
                if Big_int_Z.eq_big_int v Big_int_Z.zero_big_int
                then Some r
                else (match log true (Big_int_Z.mult_big_int v m) d0 with
                      | Some w ->
                        Some
                          (Big_int_Z.add_big_int
                            (Big_int_Z.mult_big_int
                              (Big_int_Z.mult_big_int g v)
                              (Big_int_Z.sub_big_int
                                (Big_int_Z.mult_big_int b w)
                                (Big_int_Z.mult_big_int
                                  (Big_int_Z.sub_big_int b a) l))) r)
                      | None -> None)
              | None -> None)
           | None -> None)))

(** val ones : Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let ones l =
  map (fun _ -> Big_int_Z.unit_big_int) l

(** val floor_holds :
    problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> floor ->
    bool **)

let floor_holds pb d0 cols0 f =
  let (a, b) = f.part in
  (&&) (floor_ok pb f)
    (match sum_all
             (spread a b d0 f.shares
               (if Big_int_Z.eq_big_int a Big_int_Z.zero_big_int
                then ones f.sizes
                else f.sizes)) cols0 with
     | Some s -> Big_int_Z.le_big_int s Big_int_Z.zero_big_int
     | None -> false)

(** val attains_all :
    with_entropy -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    Big_int_Z.big_int list list -> bool **)

let attains_all en cl d0 lows cols0 =
  let pb = en.plain in
  (&&) (forallb (floor_holds pb d0 cols0) en.floors)
    (match en.bonus with
     | [] -> attains pb cl d0 lows cols0
     | z0 :: l ->
       let b = z0 :: l in
       (&&) (bonus_ok pb b)
         (match sum_all
                  (spread Big_int_Z.zero_big_int Big_int_Z.unit_big_int d0 b
                    (ones b)) cols0 with
          | Some s ->
            let u =
              Big_int_Z.mult_big_int (Big_int_Z.mult_big_int (zsum b) d) d0
            in
            attains pb
              ((Big_int_Z.add_big_int (Big_int_Z.mult_big_int (fst cl) u)
                 (Big_int_Z.mult_big_int s (snd cl))),
              (Big_int_Z.mult_big_int (snd cl) u)) d0 lows cols0
          | None -> false))

(** val gradient :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list option **)

let rec gradient n0 m g n1 =
  match g with
  | [] -> (match n1 with
           | [] -> Some []
           | _ :: _ -> None)
  | g0 :: g1 ->
    (match n1 with
     | [] -> None
     | a :: n2 ->
       (match gradient n0 m g1 n2 with
        | Some c ->
          if Big_int_Z.eq_big_int g0 Big_int_Z.zero_big_int
          then Some (Big_int_Z.zero_big_int :: c)
          else (match log false (Big_int_Z.mult_big_int a n0) m with
                | Some l -> Some (l :: c)
                | None -> None)
        | None -> None))

(** val groups_under :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list option **)

let rec groups_under gs n0 q =
  match gs with
  | [] -> Some q
  | g :: gs0 ->
    if Big_int_Z.eq_big_int (zsum g) Big_int_Z.zero_big_int
    then groups_under gs0 n0 q
    else let m = zdot g n0 in
         if Big_int_Z.lt_big_int Big_int_Z.zero_big_int m
         then (match gradient (zsum g) m g n0 with
               | Some c -> groups_under gs0 n0 (zplus q (products g c))
               | None -> None)
         else None

(** val mixed :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list list -> Big_int_Z.big_int list -> Big_int_Z.big_int list option **)

let rec mixed w p0 gains0 q =
  match p0 with
  | [] -> (match gains0 with
           | [] -> Some q
           | _ :: _ -> None)
  | a :: p1 ->
    (match gains0 with
     | [] -> None
     | g :: gains1 ->
       if Big_int_Z.le_big_int Big_int_Z.zero_big_int a
       then mixed w p1 gains1 (zplus q (zscale a (products w g)))
       else None)

(** val alone : convex -> problem **)

let alone u =
  { weights = u.prior; objective = u.aim; base = Free; halfspaces = [];
    outputs = None; rows = [] }

(** val unit_of : convex -> Big_int_Z.big_int **)

let unit_of u =
  let t = zsum u.prior in
  (match u.aim with
   | Linear (_, _) -> Big_int_Z.unit_big_int
   | Bayes (den, _) -> Big_int_Z.mult_big_int (Big_int_Z.mult_big_int t den) d
   | Information _ -> Big_int_Z.mult_big_int t d
   | ChiSquare ->
     Big_int_Z.mult_big_int
       (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int t t) d) d)

(** val under :
    convex -> Big_int_Z.big_int list -> Big_int_Z.big_int list option **)

let under u p0 =
  let w = u.prior in
  let t = zsum w in
  (match u.aim with
   | Linear (_, _) -> None
   | Bayes (_, gains0) ->
     if Big_int_Z.eq_big_int (zsum p0) d
     then mixed w p0 gains0 (zeros w)
     else None
   | Information gs -> groups_under gs p0 (zeros w)
   | ChiSquare ->
     if alike p0 w
     then Some
            (zplus
              (zscale
                (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int t d)
                  (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
                (products w p0))
              (zscale
                (Big_int_Z.minus_big_int
                  (Big_int_Z.add_big_int (zdot (products w p0) p0)
                    (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int t d) d)))
                w))
     else None)

(** val under_terms :
    convex -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> terms option **)

let rec under_terms u y = function
| [] -> Some []
| p0 :: ps0 ->
  (match under u p0 with
   | Some c ->
     (match under_terms u (Big_int_Z.add_big_int y Big_int_Z.unit_big_int) ps0 with
      | Some l -> Some (app (placed Big_int_Z.zero_big_int y c) l)
      | None -> None)
   | None -> None)

(** val convex_ok : problem -> convex -> bool **)

let convex_ok pb u =
  (&&) (well_formed (alone u)) (alike u.prior pb.weights)

(** val shown :
    problem -> convex -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    terms option **)

let shown pb u m ps =
  if (&&) (convex_ok pb u) (Big_int_Z.eq_big_int (zlen ps) m)
  then under_terms u Big_int_Z.zero_big_int ps
  else None

(** val times : Big_int_Z.big_int -> terms -> terms **)

let times c l =
  map (fun t -> let (y0, a) = t in (y0, (Big_int_Z.mult_big_int c a))) l

(** val limit_rows :
    problem -> Big_int_Z.big_int ->
    (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
    Big_int_Z.big_int list list list -> row list option **)

let rec limit_rows pb m ls touches =
  match ls with
  | [] -> (match touches with
           | [] -> Some []
           | _ :: _ -> None)
  | p0 :: ls0 ->
    let (u, p1) = p0 in
    let (a, b) = p1 in
    (match touches with
     | [] -> None
     | ps :: touches0 ->
       (match limit_rows pb m ls0 touches0 with
        | Some rs ->
          (match ps with
           | [] -> Some rs
           | _ :: _ ->
             (match shown pb u m ps with
              | Some l ->
                if Big_int_Z.lt_big_int Big_int_Z.zero_big_int b
                then Some ({ equal = false; right =
                       (Big_int_Z.mult_big_int a (unit_of u)); coefficients =
                       (times b l) } :: rs)
                else None
              | None -> None))
        | None -> None))

(** val more :
    problem -> utility -> Big_int_Z.big_int option -> row list -> problem **)

let more pb u m new0 =
  { weights = pb.weights; objective = u; base = pb.base; halfspaces =
    pb.halfspaces; outputs = m; rows = (app pb.rows new0) }

(** val straight :
    with_convex -> Big_int_Z.big_int list list list -> with_entropy option **)

let straight co touches =
  let en = co.inner in
  let pb = en.plain in
  (match co.loss with
   | Some u ->
     (match touches with
      | [] -> None
      | y :: touches0 ->
        (match y with
         | [] -> None
         | p0 :: ps ->
           let m =
             match pb.outputs with
             | Some m -> m
             | None -> Big_int_Z.unit_big_int
           in
           (match shown pb u m (p0 :: ps) with
            | Some l ->
              (match limit_rows pb m co.limits touches0 with
               | Some new0 ->
                 (match pb.outputs with
                  | Some _ ->
                    Some { plain =
                      (more pb (Linear ((unit_of u), (negated l))) (Some m)
                        new0); bonus = []; floors = en.floors }
                  | None ->
                    (match pb.rows with
                     | [] ->
                       (match en.floors with
                        | [] ->
                          Some { plain =
                            (more pb (Linear ((unit_of u), (negated l)))
                              (Some m) new0); bonus = []; floors = en.floors }
                        | _ :: _ -> None)
                     | _ :: _ -> None))
               | None -> None)
            | None -> None)))
   | None ->
     (match limit_rows pb (count pb) co.limits touches with
      | Some new0 ->
        Some { plain = (more pb pb.objective pb.outputs new0); bonus =
          en.bonus; floors = en.floors }
      | None -> None))

(** val accepts :
    with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int list list list -> Big_int_Z.big_int list list -> header
    -> token list -> bool **)

let accepts co cl touches points hd toks =
  match straight co touches with
  | Some en -> decide en cl points hd toks
  | None -> false

(** val excludes :
    with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int list list list -> Big_int_Z.big_int list list -> header
    -> token list -> bool **)

let excludes co cl touches points hd toks =
  match straight co touches with
  | Some en -> impossible en cl points hd toks
  | None -> false

(** val relative_above :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int option **)

let rec relative_above n0 s g q =
  match g with
  | [] -> Some Big_int_Z.zero_big_int
  | g0 :: g1 ->
    (match q with
     | [] -> Some Big_int_Z.zero_big_int
     | n1 :: q0 ->
       (match relative_above n0 s g1 q0 with
        | Some r ->
          if (||) (Big_int_Z.eq_big_int g0 Big_int_Z.zero_big_int)
               (Big_int_Z.eq_big_int n1 Big_int_Z.zero_big_int)
          then Some r
          else (match log true (Big_int_Z.mult_big_int n1 n0) s with
                | Some u ->
                  Some
                    (Big_int_Z.add_big_int
                      (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int g0 n1)
                        u) r)
                | None -> None)
        | None -> None))

(** val square_above :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    option **)

let square_above w q =
  let s = zdot w q in
  Some
  (if Big_int_Z.eq_big_int s Big_int_Z.zero_big_int
   then Big_int_Z.zero_big_int
   else Big_int_Z.sub_big_int
          (ceil
            (Big_int_Z.mult_big_int
              (Big_int_Z.mult_big_int (zsum w)
                (zdot w (map (fun n0 -> Big_int_Z.mult_big_int n0 n0) q))) d)
            s) (Big_int_Z.mult_big_int s d))

(** val above :
    convex -> Big_int_Z.big_int list -> Big_int_Z.big_int option **)

let above u q =
  let w = u.prior in
  (match u.aim with
   | Linear (_, _) -> None
   | Bayes (_, gains0) -> Some (best_gain w q gains0)
   | Information gs ->
     sum_all (fun g -> relative_above (zsum g) (zdot g q) g q) gs
   | ChiSquare -> square_above w q)

(** val scale_of : convex -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let scale_of u d0 =
  let t = zsum u.prior in
  (match u.aim with
   | Bayes (den, _) ->
     Big_int_Z.mult_big_int (Big_int_Z.mult_big_int t den) d0
   | _ -> Big_int_Z.mult_big_int (Big_int_Z.mult_big_int t d0) d)

(** val at_most_there :
    problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> convex ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let at_most_there pb d0 cols0 u a b =
  (&&)
    ((&&) (convex_ok pb u) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b))
    (match sum_all (above u) cols0 with
     | Some s ->
       Big_int_Z.le_big_int (Big_int_Z.mult_big_int s b)
         (Big_int_Z.mult_big_int a (scale_of u d0))
     | None -> false)

(** val realises :
    with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    Big_int_Z.big_int list list -> bool **)

let realises co cl d0 lows cols0 =
  let en = co.inner in
  (&&)
    (forallb (fun l ->
      at_most_there en.plain d0 cols0 (fst l) (fst (snd l)) (snd (snd l)))
      co.limits)
    (match co.loss with
     | Some u ->
       (&&)
         (attains_all { plain = (emptied en.plain); bonus = []; floors =
           en.floors } (Big_int_Z.zero_big_int, Big_int_Z.unit_big_int) d0
           lows cols0)
         (at_most_there en.plain d0 cols0 u
           (Big_int_Z.minus_big_int (fst cl)) (snd cl))
     | None -> attains_all en cl d0 lows cols0)

(** val wider : utility -> utility **)

let wider a = match a with
| Bayes (den, gains0) ->
  Bayes (den, (map (fun g -> app g (Big_int_Z.zero_big_int :: [])) gains0))
| Information gs ->
  Information (map (fun g -> app g (Big_int_Z.zero_big_int :: [])) gs)
| _ -> a

(** val wide : convex -> convex **)

let wide u =
  { prior = (app u.prior (Big_int_Z.zero_big_int :: [])); aim =
    (wider u.aim) }

(** val ratios_to :
    ratio -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list
    -> ((Big_int_Z.big_int * Big_int_Z.big_int) * ratio) list **)

let rec ratios_to r x z0 = function
| [] -> []
| _ :: w0 ->
  if Big_int_Z.eq_big_int x z0
  then ratios_to r x (Big_int_Z.add_big_int z0 Big_int_Z.unit_big_int) w0
  else ((x, z0),
         r) :: (ratios_to r x
                 (Big_int_Z.add_big_int z0 Big_int_Z.unit_big_int) w0)

(** val all_ratios :
    ratio -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list -> ((Big_int_Z.big_int * Big_int_Z.big_int) * ratio) list **)

let rec all_ratios r x w = function
| [] -> []
| _ :: v0 ->
  app (ratios_to r x Big_int_Z.zero_big_int w)
    (all_ratios r (Big_int_Z.add_big_int x Big_int_Z.unit_big_int) w v0)

(** val open_cone : Big_int_Z.big_int list -> cone -> cone **)

let open_cone w c = match c with
| Complete r -> Graph (all_ratios r Big_int_Z.zero_big_int w w)
| _ -> c

(** val inside : Big_int_Z.big_int -> cone -> bool **)

let inside k = function
| Free -> true
| Complete _ ->
  Big_int_Z.le_big_int k (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))))
| Graph es ->
  forallb (fun e ->
    let (y, _) = e in
    let (x, z0) = y in
    (&&)
      ((&&)
        ((&&) (Big_int_Z.le_big_int Big_int_Z.zero_big_int x)
          (Big_int_Z.lt_big_int x k))
        (Big_int_Z.le_big_int Big_int_Z.zero_big_int z0))
      (Big_int_Z.lt_big_int z0 k)) es
| Robust (_, _, _, _) -> false

(** val no_loss : convex -> bool **)

let no_loss u =
  match u.aim with
  | Bayes (_, gains0) -> forallb nonnegative gains0
  | _ -> true

(** val forms_under :
    convex -> Big_int_Z.big_int list list -> Big_int_Z.big_int list list
    option **)

let rec forms_under u = function
| [] -> Some []
| p0 :: ps0 ->
  (match under u p0 with
   | Some c ->
     (match forms_under u ps0 with
      | Some l -> Some (c :: l)
      | None -> None)
   | None -> None)

(** val lifted :
    with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int list list) ->
    with_convex option **)

let lifted co l =
  let en = co.inner in
  let pb = en.plain in
  let w = pb.weights in
  (match nthz (fst l) co.limits with
   | Some p0 ->
     let (u, p1) = p0 in
     let (a, b) = p1 in
     if (&&)
          ((&&)
            ((&&)
              ((&&)
                ((&&)
                  ((&&)
                    ((&&) (well_formed (emptied pb))
                      (match co.loss with
                       | Some v -> convex_ok pb v
                       | None -> well_formed pb))
                    (forallb (fun m -> convex_ok pb (fst m)) co.limits))
                  (inside (zlen w) pb.base)) (no_loss u))
              (Big_int_Z.lt_big_int Big_int_Z.zero_big_int a))
            (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b))
          (Big_int_Z.le_big_int
            (Big_int_Z.mult_big_int (zlen (snd l)) (zlen w))
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            (Big_int_Z.mult_int_big_int 2
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            (Big_int_Z.mult_int_big_int 2
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            (Big_int_Z.mult_int_big_int 2
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
            Big_int_Z.unit_big_int))))))))))))))))))))))))
     then (match en.floors with
           | [] ->
             (match en.bonus with
              | [] ->
                (match forms_under u (snd l) with
                 | Some cs ->
                   Some { inner = { plain = { weights =
                     (app w (Big_int_Z.zero_big_int :: [])); objective =
                     (wider pb.objective); base = (open_cone w pb.base);
                     halfspaces =
                     (app
                       (map (fun c -> app c (Big_int_Z.zero_big_int :: []))
                         pb.halfspaces)
                       (map (fun c ->
                         app (zscale b c)
                           ((Big_int_Z.minus_big_int
                              (Big_int_Z.mult_big_int a (unit_of u))) :: []))
                         cs)); outputs = pb.outputs; rows = pb.rows };
                     bonus = []; floors = [] }; loss =
                     (match co.loss with
                      | Some v -> Some (wide v)
                      | None -> None); limits =
                     (map (fun m -> ((wide (fst m)), (snd m))) co.limits) }
                 | None -> None)
              | _ :: _ -> None)
           | _ :: _ -> None)
     else None
   | None -> None)

(** val lifted_all :
    with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int list list) list ->
    with_convex option **)

let rec lifted_all co = function
| [] -> Some co
| l :: ls0 ->
  (match lifted co l with
   | Some co0 -> lifted_all co0 ls0
   | None -> None)

(** val lifted_few :
    with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int list list) list ->
    with_convex option **)

let lifted_few co ls =
  if Big_int_Z.le_big_int (zlen ls) (Big_int_Z.mult_int_big_int 2
       (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
       (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
       (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))
  then lifted_all co ls
  else None

(** val confidence_ok : Big_int_Z.big_int list -> confidence -> bool **)

let confidence_ok w cf =
  let k = zlen w in
  let (p0, p1) = cf.radii in
  let (a, b) = p0 in
  let (c, e) = p1 in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&)
                ((&&) ((&&) (alike cf.counts w) (nonnegative cf.counts))
                  (Big_int_Z.lt_big_int Big_int_Z.zero_big_int
                    (zsum cf.counts)))
                (Big_int_Z.le_big_int Big_int_Z.zero_big_int a))
              (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b))
            (Big_int_Z.lt_big_int Big_int_Z.zero_big_int e))
          (Big_int_Z.le_big_int (Big_int_Z.mult_big_int a e)
            (Big_int_Z.mult_big_int c b)))
        (Big_int_Z.le_big_int k (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))))))
      (Big_int_Z.le_big_int (zlen (concat cf.blocks)) k))
    (forallb (fun block ->
      forallb (fun x ->
        (&&) (Big_int_Z.le_big_int Big_int_Z.zero_big_int x)
          (Big_int_Z.lt_big_int x k)) block) cf.blocks)

(** val variance_above :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int option **)

let rec variance_above m c r =
  match c with
  | [] -> (match r with
           | [] -> Some Big_int_Z.zero_big_int
           | _ :: _ -> None)
  | n0 :: c0 ->
    (match r with
     | [] -> None
     | y :: r0 ->
       (match variance_above m c0 r0 with
        | Some s ->
          if Big_int_Z.eq_big_int n0 Big_int_Z.zero_big_int
          then if Big_int_Z.le_big_int Big_int_Z.zero_big_int y
               then Some s
               else None
          else if Big_int_Z.lt_big_int Big_int_Z.zero_big_int y
               then Some
                      (Big_int_Z.add_big_int
                        (ceil
                          (Big_int_Z.mult_big_int
                            (Big_int_Z.mult_big_int
                              (Big_int_Z.mult_big_int
                                (Big_int_Z.mult_big_int n0 n0) m) d) d) y) s)
               else None
        | None -> None))

(** val spread_out :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec spread_out c block r q =
  match block with
  | [] -> q
  | x :: block0 ->
    (match r with
     | [] -> q
     | a :: r0 ->
       spread_out c block0 r0
         (updz x (fun s ->
           Big_int_Z.add_big_int s (Big_int_Z.mult_big_int c a)) q))

(** val cut_row :
    Big_int_Z.big_int list -> confidence -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list option **)

let cut_row w cf g h rt = function
| [] -> None
| s :: l0 ->
  (match l0 with
   | [] -> None
   | z0 :: l1 ->
     (match l1 with
      | [] -> None
      | e :: l2 ->
        (match l2 with
         | [] -> None
         | f :: l3 ->
           (match nthz s cf.blocks with
            | Some b1 ->
              (match nthz z0 cf.blocks with
               | Some b2 ->
                 let r = firstn (length b1) l3 in
                 let t = skipn (length b1) l3 in
                 let c1 = pick Big_int_Z.zero_big_int b1 cf.counts in
                 let c2 = pick Big_int_Z.zero_big_int b2 cf.counts in
                 let k =
                   Big_int_Z.mult_big_int (zsum cf.counts)
                     (Big_int_Z.sub_big_int rt d)
                 in
                 (match variance_above (zsum r) c1 r with
                  | Some u ->
                    (match variance_above (zsum t) c2 t with
                     | Some w0 ->
                       if (&&)
                            ((&&)
                              ((&&)
                                ((&&)
                                  ((&&)
                                    ((&&)
                                      ((&&)
                                        (negb (Big_int_Z.eq_big_int s z0))
                                        (Big_int_Z.lt_big_int
                                          Big_int_Z.zero_big_int (zsum r)))
                                      (Big_int_Z.lt_big_int
                                        Big_int_Z.zero_big_int (zsum t)))
                                    (Big_int_Z.le_big_int
                                      Big_int_Z.zero_big_int e))
                                  (Big_int_Z.le_big_int
                                    Big_int_Z.zero_big_int f))
                                (Big_int_Z.le_big_int u
                                  (Big_int_Z.mult_big_int e e)))
                              (Big_int_Z.le_big_int w0
                                (Big_int_Z.mult_big_int f f)))
                            (if cf.product
                             then (&&)
                                    (Big_int_Z.le_big_int e
                                      (Big_int_Z.add_big_int k
                                        (Big_int_Z.mult_big_int d (zsum c1))))
                                    (Big_int_Z.le_big_int f
                                      (Big_int_Z.add_big_int k
                                        (Big_int_Z.mult_big_int d (zsum c2))))
                             else Big_int_Z.le_big_int
                                    (Big_int_Z.add_big_int e f)
                                    (Big_int_Z.add_big_int
                                      (Big_int_Z.add_big_int k
                                        (Big_int_Z.mult_big_int d (zsum c1)))
                                      (Big_int_Z.mult_big_int d (zsum c2))))
                       then Some
                              (spread_out
                                (Big_int_Z.minus_big_int
                                  (Big_int_Z.mult_big_int g (zsum r))) b2 t
                                (spread_out
                                  (Big_int_Z.mult_big_int h (zsum t)) b1 r
                                  (zeros w)))
                       else None
                     | None -> None)
                  | None -> None)
               | None -> None)
            | None -> None))))

(** val cut_rows :
    Big_int_Z.big_int list -> confidence -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list list option **)

let rec cut_rows w cf g h rt = function
| [] -> Some []
| l :: ls0 ->
  (match cut_row w cf g h rt l with
   | Some c ->
     (match cut_rows w cf g h rt ls0 with
      | Some r -> Some (c :: r)
      | None -> None)
   | None -> None)

(** val cuts_of :
    Big_int_Z.big_int list -> confidence -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list list option **)

let cuts_of w cf g h rt ls =
  let (a, b) = fst cf.radii in
  if (&&)
       ((&&)
         ((&&)
           ((&&)
             (Big_int_Z.le_big_int
               (Big_int_Z.mult_big_int (zlen ls) (zlen w))
               (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
               (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
               (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
               (Big_int_Z.mult_int_big_int 2
               ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
               (Big_int_Z.mult_int_big_int 2
               ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
               ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
               (Big_int_Z.mult_int_big_int 2
               ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
               (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
               ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
               (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
               (Big_int_Z.mult_int_big_int 2
               ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
               ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
               (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
               Big_int_Z.unit_big_int))))))))))))))))))))))))
             (confidence_ok w cf)) (at_least cf.level g h))
         (Big_int_Z.le_big_int Big_int_Z.zero_big_int rt))
       (Big_int_Z.le_big_int
         (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int rt rt) b)
         (Big_int_Z.mult_big_int
           (Big_int_Z.mult_big_int (Big_int_Z.add_big_int a b) d) d))
  then cut_rows w cf g h rt ls
  else None

(** val roots_below :
    bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list
    -> Big_int_Z.big_int list -> Big_int_Z.big_int option **)

let rec roots_below up d0 i c q =
  match c with
  | [] -> Some Big_int_Z.zero_big_int
  | n0 :: c0 ->
    (match q with
     | [] -> Some Big_int_Z.zero_big_int
     | v :: q0 ->
       let u =
         if up
         then Big_int_Z.sub_big_int (Big_int_Z.mult_big_int i d0)
                (Big_int_Z.mult_big_int v d)
         else Big_int_Z.sub_big_int (Big_int_Z.mult_big_int v d)
                (Big_int_Z.mult_big_int i d0)
       in
       (match roots_below up d0 i c0 q0 with
        | Some s ->
          if Big_int_Z.le_big_int Big_int_Z.zero_big_int u
          then Some
                 (Big_int_Z.add_big_int
                   (Big_int_Z.mult_big_int n0
                     (Z.sqrt (Z.div (Big_int_Z.mult_big_int u d) d0))) s)
          else None
        | None -> None))

(** val pair_there :
    confidence -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list
    -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool **)

let pair_there cf g h rt d0 q b1 b2 = function
| [] -> false
| i :: l0 ->
  (match l0 with
   | [] -> false
   | j :: l1 ->
     (match l1 with
      | [] -> false
      | y :: l2 ->
        (match l2 with
         | [] -> false
         | w :: l3 ->
           (match l3 with
            | [] ->
              let c1 = pick Big_int_Z.zero_big_int b1 cf.counts in
              let c2 = pick Big_int_Z.zero_big_int b2 cf.counts in
              let k =
                Big_int_Z.mult_big_int (zsum cf.counts)
                  (Big_int_Z.sub_big_int rt d)
              in
              (match roots_below true d0 i c1
                       (pick Big_int_Z.zero_big_int b1 q) with
               | Some a ->
                 (match roots_below false d0 j c2
                          (pick Big_int_Z.zero_big_int b2 q) with
                  | Some m ->
                    let p0 =
                      Big_int_Z.mult_big_int
                        (Big_int_Z.mult_big_int
                          (Big_int_Z.mult_big_int
                            (Big_int_Z.mult_big_int a a) h)
                          (Big_int_Z.mult_big_int
                            (Big_int_Z.mult_big_int w w) w)) d
                    in
                    let q0 =
                      Big_int_Z.mult_big_int
                        (Big_int_Z.mult_big_int
                          (Big_int_Z.mult_big_int g
                            (Big_int_Z.mult_big_int m m))
                          (Big_int_Z.mult_big_int
                            (Big_int_Z.mult_big_int y y) y)) d
                    in
                    let left =
                      Big_int_Z.mult_big_int
                        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                        Big_int_Z.unit_big_int)
                        (Big_int_Z.add_big_int (Big_int_Z.mult_big_int p0 y)
                          (Big_int_Z.mult_big_int q0 w))
                    in
                    let need =
                      Big_int_Z.mult_big_int
                        (Big_int_Z.mult_big_int
                          (Big_int_Z.sub_big_int (Big_int_Z.mult_big_int h i)
                            (Big_int_Z.mult_big_int g j))
                          (Big_int_Z.mult_big_int
                            (Big_int_Z.mult_big_int y y) y))
                        (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int w w)
                          w)
                    in
                    (&&)
                      ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int y)
                        (Big_int_Z.lt_big_int Big_int_Z.zero_big_int w))
                      (if cf.product
                       then Big_int_Z.le_big_int need
                              (Big_int_Z.sub_big_int left
                                (Big_int_Z.mult_big_int
                                  (Big_int_Z.mult_int_big_int 2
                                  Big_int_Z.unit_big_int)
                                  (Big_int_Z.add_big_int
                                    (Big_int_Z.mult_big_int p0
                                      (Big_int_Z.add_big_int k
                                        (Big_int_Z.mult_big_int d (zsum c1))))
                                    (Big_int_Z.mult_big_int q0
                                      (Big_int_Z.add_big_int k
                                        (Big_int_Z.mult_big_int d (zsum c2)))))))
                       else let k0 =
                              Big_int_Z.add_big_int
                                (Big_int_Z.add_big_int k
                                  (Big_int_Z.mult_big_int d (zsum c1)))
                                (Big_int_Z.mult_big_int d (zsum c2))
                            in
                            (&&)
                              (Big_int_Z.le_big_int need
                                (Big_int_Z.sub_big_int left
                                  (Big_int_Z.mult_big_int
                                    (Big_int_Z.mult_big_int
                                      (Big_int_Z.mult_int_big_int 2
                                      Big_int_Z.unit_big_int) p0) k0)))
                              (Big_int_Z.le_big_int need
                                (Big_int_Z.sub_big_int left
                                  (Big_int_Z.mult_big_int
                                    (Big_int_Z.mult_big_int
                                      (Big_int_Z.mult_int_big_int 2
                                      Big_int_Z.unit_big_int) q0) k0))))
                  | None -> false)
               | None -> false)
            | _ :: _ -> false))))

(** val pairs_there :
    confidence -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list
    -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list
    -> Big_int_Z.big_int list list -> Big_int_Z.big_int list list option **)

let rec pairs_there cf g h rt d0 q b1 i j bs ls =
  match bs with
  | [] -> Some ls
  | b2 :: bs0 ->
    if Big_int_Z.eq_big_int i j
    then pairs_there cf g h rt d0 q b1 i
           (Big_int_Z.add_big_int j Big_int_Z.unit_big_int) bs0 ls
    else (match ls with
          | [] -> None
          | l :: ls0 ->
            if pair_there cf g h rt d0 q b1 b2 l
            then pairs_there cf g h rt d0 q b1 i
                   (Big_int_Z.add_big_int j Big_int_Z.unit_big_int) bs0 ls0
            else None)

(** val column_there :
    confidence -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list list option **)

let rec column_there cf g h rt d0 q i bs ls =
  match bs with
  | [] -> Some ls
  | b1 :: bs0 ->
    (match pairs_there cf g h rt d0 q b1 i Big_int_Z.zero_big_int cf.blocks ls with
     | Some ls0 ->
       column_there cf g h rt d0 q
         (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) bs0 ls0
     | None -> None)

(** val columns_there :
    confidence -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int
    list list -> bool **)

let rec columns_there cf g h rt d0 cols0 ls =
  match cols0 with
  | [] -> (match ls with
           | [] -> true
           | _ :: _ -> false)
  | q :: cols1 ->
    (match column_there cf g h rt d0 q Big_int_Z.zero_big_int cf.blocks ls with
     | Some ls0 -> columns_there cf g h rt d0 cols1 ls0
     | None -> false)

(** val confident_there :
    Big_int_Z.big_int list -> confidence -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list -> bool **)

let confident_there w cf g h rt d0 cols0 ls =
  let (a, b) = snd cf.radii in
  (&&)
    ((&&)
      ((&&) ((&&) (confidence_ok w cf) (at_most cf.level g h))
        (Big_int_Z.le_big_int Big_int_Z.zero_big_int rt))
      (Big_int_Z.le_big_int
        (Big_int_Z.mult_big_int
          (Big_int_Z.mult_big_int (Big_int_Z.add_big_int a b) d) d)
        (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int rt rt) b)))
    (columns_there cf g h rt d0 cols0 ls)

(** val own_logs :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list
    option **)

let rec own_logs n0 = function
| [] -> Some []
| g0 :: g1 ->
  (match own_logs n0 g1 with
   | Some l ->
     if Big_int_Z.eq_big_int g0 Big_int_Z.zero_big_int
     then Some (Big_int_Z.zero_big_int :: l)
     else (match log true n0 g0 with
           | Some u -> Some ((Big_int_Z.mult_big_int g0 u) :: l)
           | None -> None)
   | None -> None)

(** val all_logs :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list option **)

let rec all_logs gs q =
  match gs with
  | [] -> Some q
  | g :: gs0 ->
    (match own_logs (zsum g) g with
     | Some c -> all_logs gs0 (zplus q c)
     | None -> None)

(** val zmost :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec zmost a b =
  match a with
  | [] -> []
  | x :: a0 ->
    (match b with
     | [] -> []
     | y :: b0 -> (Big_int_Z.max_big_int x y) :: (zmost a0 b0))

(** val highest : Big_int_Z.big_int list list -> Big_int_Z.big_int list **)

let rec highest = function
| [] -> []
| g :: gains1 ->
  (match gains1 with
   | [] -> g
   | _ :: _ -> zmost g (highest gains1))

(** val over_all :
    convex -> (Big_int_Z.big_int list * Big_int_Z.big_int) option **)

let over_all u =
  let w = u.prior in
  let t = zsum w in
  (match u.aim with
   | Linear (_, _) -> None
   | Bayes (den, gains0) ->
     Some ((products w (highest gains0)), (Big_int_Z.mult_big_int t den))
   | Information gs ->
     (match all_logs gs (zeros w) with
      | Some l -> Some (l, (Big_int_Z.mult_big_int t d))
      | None -> None)
   | ChiSquare ->
     Some
       ((map (fun w0 ->
          if Big_int_Z.eq_big_int w0 Big_int_Z.zero_big_int
          then Big_int_Z.zero_big_int
          else Big_int_Z.sub_big_int t w0) w), t))

(** val add_parts :
    problem -> Big_int_Z.big_int ->
    (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
    Big_int_Z.big_int list list list -> Big_int_Z.big_int -> terms ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    ((Big_int_Z.big_int * terms) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option **)

let rec add_parts pb m ps hs den cost cl =
  match ps with
  | [] -> (match hs with
           | [] -> Some ((den, cost), cl)
           | _ :: _ -> None)
  | p0 :: ps0 ->
    let (u, p1) = p0 in
    let (a, b) = p1 in
    (match hs with
     | [] -> None
     | points :: hs0 ->
       if negb
            ((&&) (convex_ok pb u)
              (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b))
       then None
       else if Big_int_Z.lt_big_int a Big_int_Z.zero_big_int
            then (match shown pb u m points with
                  | Some l ->
                    let u0 = Big_int_Z.mult_big_int b (unit_of u) in
                    add_parts pb m ps0 hs0 (Big_int_Z.mult_big_int den u0)
                      (app (times u0 cost)
                        (times (Big_int_Z.mult_big_int a den) l)) cl
                  | None -> None)
            else (match points with
                  | [] ->
                    (match over_all u with
                     | Some p2 ->
                       let (f, u0) = p2 in
                       let u1 = Big_int_Z.mult_big_int b u0 in
                       add_parts pb m ps0 hs0 den cost
                         ((Big_int_Z.sub_big_int
                            (Big_int_Z.mult_big_int (fst cl) u1)
                            (Big_int_Z.mult_big_int
                              (Big_int_Z.mult_big_int a (zsum f)) (snd cl))),
                         (Big_int_Z.mult_big_int (snd cl) u1))
                     | None -> None)
                  | _ :: _ -> None))

(** val summed :
    with_convex -> (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
    Big_int_Z.big_int list list list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (with_convex * (Big_int_Z.big_int * Big_int_Z.big_int)) option **)

let summed co ps hs cl =
  let en = co.inner in
  let pb = en.plain in
  (match ps with
   | [] -> (match hs with
            | [] -> Some (co, cl)
            | _ :: _ -> None)
   | _ :: _ ->
     (match pb.objective with
      | Linear (den, cost) ->
        (match pb.outputs with
         | Some m ->
           (match en.bonus with
            | [] ->
              (match co.loss with
               | Some _ -> None
               | None ->
                 if (&&)
                      ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int den)
                        (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (snd cl)))
                      (Big_int_Z.le_big_int (zlen ps)
                        (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        (Big_int_Z.mult_int_big_int 2
                        Big_int_Z.unit_big_int)))))))
                 then (match add_parts pb m ps hs den cost cl with
                       | Some p0 ->
                         let (p1, cl0) = p0 in
                         let (den0, cost0) = p1 in
                         Some ({ inner = { plain = { weights = pb.weights;
                         objective = (Linear (den0, cost0)); base = pb.base;
                         halfspaces = pb.halfspaces; outputs = pb.outputs;
                         rows = pb.rows }; bonus = []; floors = en.floors };
                         loss = None; limits = co.limits }, cl0)
                       | None -> None)
                 else None)
            | _ :: _ -> None)
         | None -> None)
      | _ -> None))

(** val parts_there :
    problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let rec parts_there pb d0 cols0 ps ws cl =
  match ps with
  | [] -> (match ws with
           | [] -> Some cl
           | _ :: _ -> None)
  | p0 :: ps0 ->
    let (u, p1) = p0 in
    let (a, b) = p1 in
    (match ws with
     | [] -> None
     | p2 :: ws0 ->
       let (n0, m) = p2 in
       if (&&)
            ((&&)
              ((&&) (convex_ok pb u)
                (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b))
              (Big_int_Z.lt_big_int Big_int_Z.zero_big_int m))
            (if Big_int_Z.lt_big_int a Big_int_Z.zero_big_int
             then at_most_there pb d0 cols0 u n0 m
             else attains (alone u) (n0, m) d0 [] cols0)
       then parts_there pb d0 cols0 ps0 ws0
              ((Big_int_Z.sub_big_int
                 (Big_int_Z.mult_big_int (fst cl)
                   (Big_int_Z.mult_big_int b m))
                 (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int a n0)
                   (snd cl))),
              (Big_int_Z.mult_big_int (snd cl) (Big_int_Z.mult_big_int b m)))
       else None)

(** val limit_at :
    divergence -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let limit_at v n0 d0 =
  match v with
  | Renyi (order0, most0) ->
    let (a, b) = order0 in
    let (p0, q) = most0 in
    if (&&)
         ((&&)
           (Big_int_Z.eq_big_int (Big_int_Z.mult_big_int n0 b)
             (Big_int_Z.mult_big_int a d0))
           (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b))
         (Big_int_Z.lt_big_int Big_int_Z.zero_big_int q)
    then Some (p0, q)
    else None
  | Concentrated most0 ->
    let (p0, q) = most0 in
    if Big_int_Z.lt_big_int Big_int_Z.zero_big_int q
    then Some ((Big_int_Z.mult_big_int p0 n0), (Big_int_Z.mult_big_int q d0))
    else None

(** val young_terms :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list -> terms
    option **)

let rec young_terms x z0 n0 d0 r p0 q y = function
| [] -> Some []
| s :: l0 ->
  (match l0 with
   | [] -> None
   | b :: l1 ->
     (match young_terms x z0 n0 d0 r p0 q
              (Big_int_Z.add_big_int y Big_int_Z.unit_big_int) l1 with
      | Some ts ->
        if Big_int_Z.eq_big_int s Big_int_Z.zero_big_int
        then if Big_int_Z.le_big_int Big_int_Z.zero_big_int b
             then Some (((z0, y), (Big_int_Z.minus_big_int b)) :: ts)
             else None
        else (match log false b d with
              | Some lb ->
                (match log true (Big_int_Z.sub_big_int n0 d0) d0 with
                 | Some l2 ->
                   (match log true (Big_int_Z.mult_big_int s d0)
                            (Big_int_Z.mult_big_int n0 d) with
                    | Some ls ->
                      (match log false r d with
                       | Some lr ->
                         if (&&)
                              (Big_int_Z.lt_big_int Big_int_Z.zero_big_int s)
                              (Big_int_Z.le_big_int
                                (Big_int_Z.mult_big_int
                                  (Big_int_Z.mult_big_int d
                                    (Big_int_Z.sub_big_int n0 d0)) p0)
                                (Big_int_Z.mult_big_int
                                  (Big_int_Z.add_big_int
                                    (Big_int_Z.sub_big_int
                                      (Big_int_Z.mult_big_int
                                        (Big_int_Z.sub_big_int n0 d0)
                                        (Big_int_Z.sub_big_int lb l2))
                                      (Big_int_Z.mult_big_int n0 ls))
                                    (Big_int_Z.mult_big_int d0 lr)) q))
                         then Some (((x, y), s) :: (((z0, y),
                                (Big_int_Z.minus_big_int b)) :: ts))
                         else None
                       | None -> None)
                    | None -> None)
                 | None -> None)
              | None -> None)
      | None -> None))

(** val young_row :
    Big_int_Z.big_int -> divergence -> Big_int_Z.big_int list -> row option **)

let young_row k v = function
| [] -> None
| x :: l0 ->
  (match l0 with
   | [] -> None
   | z0 :: l1 ->
     (match l1 with
      | [] -> None
      | n0 :: l2 ->
        (match l2 with
         | [] -> None
         | d0 :: l3 ->
           (match l3 with
            | [] -> None
            | r :: l4 ->
              if (&&)
                   ((&&)
                     ((&&)
                       ((&&)
                         ((&&)
                           ((&&)
                             ((&&)
                               (Big_int_Z.le_big_int Big_int_Z.zero_big_int x)
                               (Big_int_Z.lt_big_int x k))
                             (Big_int_Z.le_big_int Big_int_Z.zero_big_int z0))
                           (Big_int_Z.lt_big_int z0 k))
                         (negb (Big_int_Z.eq_big_int x z0)))
                       (Big_int_Z.lt_big_int Big_int_Z.zero_big_int d0))
                     (Big_int_Z.lt_big_int d0 n0))
                   (Big_int_Z.lt_big_int Big_int_Z.zero_big_int r)
              then (match limit_at v n0 d0 with
                    | Some p0 ->
                      let (p1, q) = p0 in
                      (match young_terms x z0 n0 d0 r p1 q
                               Big_int_Z.zero_big_int l4 with
                       | Some ts ->
                         Some { equal = false; right = r; coefficients = ts }
                       | None -> None)
                    | None -> None)
              else None))))

(** val moments_sum :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list -> Big_int_Z.big_int option **)

let rec moments_sum n0 d0 dn rx rz ms =
  match rx with
  | [] ->
    (match rz with
     | [] ->
       (match ms with
        | [] -> Some Big_int_Z.zero_big_int
        | _ :: _ -> None)
     | _ :: _ -> None)
  | a :: rx0 ->
    (match rz with
     | [] -> None
     | b :: rz0 ->
       (match ms with
        | [] -> None
        | m :: ms0 ->
          (match moments_sum n0 d0 dn rx0 rz0 ms0 with
           | Some s ->
             if Big_int_Z.eq_big_int a Big_int_Z.zero_big_int
             then if Big_int_Z.le_big_int Big_int_Z.zero_big_int m
                  then Some (Big_int_Z.add_big_int m s)
                  else None
             else (match log false m d with
                   | Some lm ->
                     (match log true a dn with
                      | Some la0 ->
                        (match log true a b with
                         | Some lab ->
                           if Big_int_Z.le_big_int
                                (Big_int_Z.add_big_int
                                  (Big_int_Z.mult_big_int d0 la0)
                                  (Big_int_Z.mult_big_int
                                    (Big_int_Z.sub_big_int n0 d0) lab))
                                (Big_int_Z.mult_big_int d0 lm)
                           then Some (Big_int_Z.add_big_int m s)
                           else None
                         | None -> None)
                      | None -> None)
                   | None -> None)
           | None -> None)))

(** val line_above :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let line_above p0 q n0 d0 s c =
  match log true s d with
  | Some u ->
    Big_int_Z.le_big_int
      (Big_int_Z.mult_big_int
        (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int u q) d0) d)
      (Big_int_Z.mult_big_int p0
        (Big_int_Z.sub_big_int
          (Big_int_Z.mult_big_int
            (Big_int_Z.sub_big_int
              (Big_int_Z.mult_big_int
                (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
                  Big_int_Z.unit_big_int) c) d) (Big_int_Z.mult_big_int d d))
            n0) (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int c c) d0)))
  | None -> false

(** val all2z :
    (Big_int_Z.big_int -> Big_int_Z.big_int -> bool) -> Big_int_Z.big_int
    list -> Big_int_Z.big_int list -> bool **)

let rec all2z f l m =
  match l with
  | [] -> (match m with
           | [] -> true
           | _ :: _ -> false)
  | a :: l0 ->
    (match m with
     | [] -> false
     | b :: m0 -> (&&) (f a b) (all2z f l0 m0))

(** val orders_there :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list ->
    Big_int_Z.big_int list list -> bool **)

let rec orders_there p0 q dn rx rz n0 d0 s0 os ms =
  match os with
  | [] ->
    (match ms with
     | [] ->
       all2z (fun a b ->
         (||) (Big_int_Z.eq_big_int a Big_int_Z.zero_big_int)
           (match log true a b with
            | Some u ->
              Big_int_Z.le_big_int
                (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int u q) d0)
                (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int d p0) n0)
            | None -> false)) rx rz
     | _ :: _ -> false)
  | p1 :: os0 ->
    let (p2, c) = p1 in
    let (n1, d1) = p2 in
    (match ms with
     | [] -> false
     | m :: ms0 ->
       (match moments_sum n1 d1 dn rx rz m with
        | Some s ->
          (&&)
            ((&&)
              ((&&)
                ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int d1)
                  (Big_int_Z.lt_big_int (Big_int_Z.mult_big_int n0 d1)
                    (Big_int_Z.mult_big_int n1 d0)))
                (line_above p0 q n0 d0 s0 c)) (line_above p0 q n1 d1 s c))
            (orders_there p0 q dn rx rz n1 d1 s os0 ms0)
        | None -> false))

(** val divergence_of :
    divergence -> Big_int_Z.big_int ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list list -> bool **)

let divergence_of v dn os rx rz ms =
  match v with
  | Renyi (_, _) ->
    (match os with
     | [] -> false
     | p0 :: l ->
       let (p1, _) = p0 in
       let (n0, d0) = p1 in
       (match l with
        | [] ->
          (match ms with
           | [] -> false
           | m :: l0 ->
             (match l0 with
              | [] ->
                (match limit_at v n0 d0 with
                 | Some p2 ->
                   let (p3, q) = p2 in
                   (match moments_sum n0 d0 dn rx rz m with
                    | Some s ->
                      (match log true s d with
                       | Some u ->
                         (&&)
                           ((&&)
                             (Big_int_Z.lt_big_int Big_int_Z.zero_big_int d0)
                             (Big_int_Z.lt_big_int d0 n0))
                           (Big_int_Z.le_big_int
                             (Big_int_Z.mult_big_int
                               (Big_int_Z.mult_big_int u d0) q)
                             (Big_int_Z.mult_big_int
                               (Big_int_Z.mult_big_int d
                                 (Big_int_Z.sub_big_int n0 d0)) p3))
                       | None -> false)
                    | None -> false)
                 | None -> false)
              | _ :: _ -> false))
        | _ :: _ -> false))
  | Concentrated most0 ->
    let (p0, q) = most0 in
    (&&)
      ((&&) (Big_int_Z.le_big_int Big_int_Z.zero_big_int p0)
        (Big_int_Z.lt_big_int Big_int_Z.zero_big_int q))
      (orders_there p0 q dn rx rz Big_int_Z.unit_big_int
        Big_int_Z.unit_big_int d os ms)

(** val others_there :
    (Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list list -> bool) -> nat -> Big_int_Z.big_int list -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int
    list list -> Big_int_Z.big_int list list option **)

let rec others_there f w x i j rs ls =
  match rs with
  | [] -> Some ls
  | r :: rs0 ->
    if Big_int_Z.eq_big_int i j
    then others_there f w x i
           (Big_int_Z.add_big_int j Big_int_Z.unit_big_int) rs0 ls
    else if f x r (firstn w ls)
         then others_there f w x i
                (Big_int_Z.add_big_int j Big_int_Z.unit_big_int) rs0
                (skipn w ls)
         else None

(** val rows_there :
    (Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list list -> bool) -> nat -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int
    list list -> Big_int_Z.big_int list list option **)

let rec rows_there f w all i rs ls =
  match rs with
  | [] -> Some ls
  | r :: rs0 ->
    (match others_there f w r i Big_int_Z.zero_big_int all ls with
     | Some ls0 ->
       rows_there f w all (Big_int_Z.add_big_int i Big_int_Z.unit_big_int)
         rs0 ls0
     | None -> None)

(** val in_threes :
    Big_int_Z.big_int list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list option **)

let rec in_threes = function
| [] -> Some []
| a :: l0 ->
  (match l0 with
   | [] -> None
   | b :: l1 ->
     (match l1 with
      | [] -> None
      | c :: l2 ->
        (match in_threes l2 with
         | Some r -> Some (((a, b), c) :: r)
         | None -> None)))

(** val divergence_there :
    Big_int_Z.big_int -> Big_int_Z.big_int list list -> divergence ->
    (Big_int_Z.big_int list * Big_int_Z.big_int list list) -> bool **)

let divergence_there dn rs v shown0 =
  match in_threes (fst shown0) with
  | Some os ->
    (match rows_there (divergence_of v dn os) (length os) rs
             Big_int_Z.zero_big_int rs (snd shown0) with
     | Some l -> (match l with
                  | [] -> true
                  | _ :: _ -> false)
     | None -> false)
  | None -> false

(** val each : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 list option **)

let rec each f = function
| [] -> Some []
| a :: l0 ->
  (match f a with
   | Some b -> (match each f l0 with
                | Some r -> Some (b :: r)
                | None -> None)
   | None -> None)

(** val each2 :
    ('a1 -> 'a2 -> 'a3 option) -> 'a1 list -> 'a2 list -> 'a3 list option **)

let rec each2 f l m =
  match l with
  | [] -> (match m with
           | [] -> Some []
           | _ :: _ -> None)
  | a :: l0 ->
    (match m with
     | [] -> None
     | b :: m0 ->
       (match f a b with
        | Some c ->
          (match each2 f l0 m0 with
           | Some r -> Some (c :: r)
           | None -> None)
        | None -> None))

(** val a_prior : problem -> Big_int_Z.big_int list -> bool **)

let a_prior pb w =
  (&&) ((&&) (alike w pb.weights) (nonnegative w))
    (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (zsum w))

(** val at_prior :
    problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int
    list -> (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) option **)

let at_prior pb ab w =
  if a_prior pb w
  then Some ({ prior = w; aim = (Information (w :: [])) }, ab)
  else None

(** val event_terms :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list -> terms
    option **)

let rec event_terms x z0 h g y = function
| [] -> Some []
| e :: es0 ->
  (match event_terms x z0 h g
           (Big_int_Z.add_big_int y Big_int_Z.unit_big_int) es0 with
   | Some l ->
     if Big_int_Z.eq_big_int e Big_int_Z.zero_big_int
     then Some l
     else if Big_int_Z.eq_big_int e Big_int_Z.unit_big_int
          then Some (((x, y), h) :: (((z0, y),
                 (Big_int_Z.minus_big_int g)) :: l))
          else None
   | None -> None)

(** val event_row :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list -> row
    option **)

let event_row k g h a b = function
| [] -> None
| x :: l ->
  (match l with
   | [] -> None
   | z0 :: es ->
     if (&&)
          ((&&)
            ((&&)
              ((&&) (Big_int_Z.le_big_int Big_int_Z.zero_big_int x)
                (Big_int_Z.lt_big_int x k))
              (Big_int_Z.le_big_int Big_int_Z.zero_big_int z0))
            (Big_int_Z.lt_big_int z0 k)) (negb (Big_int_Z.eq_big_int x z0))
     then (match event_terms x z0 (Big_int_Z.mult_big_int b h)
                   (Big_int_Z.mult_big_int b g) Big_int_Z.zero_big_int es with
           | Some l0 ->
             Some { equal = false; right = (Big_int_Z.mult_big_int a h);
               coefficients = l0 }
           | None -> None)
     else None)

(** val event_rows :
    problem -> (ratio * (Big_int_Z.big_int * Big_int_Z.big_int)) ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int list list)
    -> row list option **)

let event_rows pb l evs =
  let (g, h) = fst evs in
  let (a, b) = snd l in
  if (&&) (at_least (fst l) g h)
       (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b)
  then each (event_row (zlen pb.weights) g h a b) (snd evs)
  else None

type hints = { priors : Big_int_Z.big_int list list;
               around : Big_int_Z.big_int list list list;
               reaches : ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int
                         list list) list;
               lifts : (Big_int_Z.big_int * Big_int_Z.big_int list list) list;
               cuts : (((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) * Big_int_Z.big_int
                      list list) option;
               sums : Big_int_Z.big_int list list list;
               tangents_of : Big_int_Z.big_int list list list }

(** val around_rows :
    with_entropy -> Big_int_Z.big_int list list -> row list option **)

let around_rows en points =
  match en.plain.outputs with
  | Some m ->
    if Big_int_Z.eq_big_int (zlen points) m
    then floor_rows en.plain points en.floors
    else None
  | None -> None

(** val cuts_at :
    problem -> confidence option ->
    (((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) * Big_int_Z.big_int
    list list) option -> Big_int_Z.big_int list list option **)

let cuts_at pb s c =
  match s with
  | Some cf ->
    (match c with
     | Some p0 ->
       let (p1, ls) = p0 in
       let (p2, rt) = p1 in let (g, h) = p2 in cuts_of pb.weights cf g h rt ls
     | None -> None)
  | None -> (match c with
             | Some _ -> None
             | None -> Some [])

(** val young_rows :
    problem -> divergence -> Big_int_Z.big_int list list -> row list option **)

let young_rows pb v ls =
  each (young_row (zlen pb.weights) v) ls

(** val widen :
    with_entropy -> Big_int_Z.big_int list list -> row list -> with_entropy **)

let widen en hs new0 =
  let pb = en.plain in
  { plain = { weights = pb.weights; objective = pb.objective; base = pb.base;
  halfspaces = (app pb.halfspaces hs); outputs = pb.outputs; rows =
  (app pb.rows new0) }; bonus = en.bonus; floors = en.floors }

(** val replaced : with_more -> hints -> with_convex option **)

let replaced mo hs =
  let co = mo.middle in
  let pb = co.inner.plain in
  if mo.least_capacity
  then (match hs.priors with
        | [] -> None
        | w :: ws ->
          (match at_prior pb (Big_int_Z.zero_big_int, Big_int_Z.unit_big_int)
                   w with
           | Some p0 ->
             let (u, _) = p0 in
             let p1 = ((Some u), ws) in
             let (aimed0, ws0) = p1 in
             (match each2 (at_prior pb) mo.capacities ws0 with
              | Some new0 ->
                (match each (around_rows co.inner) hs.around with
                 | Some r1 ->
                   (match each2 (event_rows pb) mo.excesses hs.reaches with
                    | Some r2 ->
                      (match cuts_at pb mo.set_of hs.cuts with
                       | Some cs ->
                         (match each2 (young_rows pb) mo.divergences
                                  hs.tangents_of with
                          | Some r3 ->
                            if Big_int_Z.le_big_int (zlen hs.around)
                                 (Big_int_Z.mult_int_big_int 2
                                 (Big_int_Z.mult_int_big_int 2
                                 (Big_int_Z.mult_int_big_int 2
                                 (Big_int_Z.mult_int_big_int 2
                                 (Big_int_Z.mult_int_big_int 2
                                 (Big_int_Z.mult_int_big_int 2
                                 Big_int_Z.unit_big_int))))))
                            then lifted_few { inner =
                                   (widen co.inner cs
                                     (app (concat r1)
                                       (app (concat r2) (concat r3))));
                                   loss = aimed0; limits =
                                   (app co.limits new0) } hs.lifts
                            else None
                          | None -> None)
                       | None -> None)
                    | None -> None)
                 | None -> None)
              | None -> None)
           | None -> None))
  else let p0 = (co.loss, hs.priors) in
       let (aimed0, ws) = p0 in
       (match each2 (at_prior pb) mo.capacities ws with
        | Some new0 ->
          (match each (around_rows co.inner) hs.around with
           | Some r1 ->
             (match each2 (event_rows pb) mo.excesses hs.reaches with
              | Some r2 ->
                (match cuts_at pb mo.set_of hs.cuts with
                 | Some cs ->
                   (match each2 (young_rows pb) mo.divergences hs.tangents_of with
                    | Some r3 ->
                      if Big_int_Z.le_big_int (zlen hs.around)
                           (Big_int_Z.mult_int_big_int 2
                           (Big_int_Z.mult_int_big_int 2
                           (Big_int_Z.mult_int_big_int 2
                           (Big_int_Z.mult_int_big_int 2
                           (Big_int_Z.mult_int_big_int 2
                           (Big_int_Z.mult_int_big_int 2
                           Big_int_Z.unit_big_int))))))
                      then lifted_few { inner =
                             (widen co.inner cs
                               (app (concat r1) (app (concat r2) (concat r3))));
                             loss = aimed0; limits = (app co.limits new0) }
                             hs.lifts
                      else None
                    | None -> None)
                 | None -> None)
              | None -> None)
           | None -> None)
        | None -> None)

(** val reduce :
    with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
    (with_convex * (Big_int_Z.big_int * Big_int_Z.big_int)) option **)

let reduce mo cl hs =
  match if mo.least_capacity
        then (match mo.parts with
              | [] ->
                (match hs.sums with
                 | [] -> Some (mo.middle, cl)
                 | _ :: _ -> None)
              | _ :: _ -> None)
        else summed mo.middle mo.parts hs.sums cl with
  | Some p0 ->
    let (co, cl0) = p0 in
    (match replaced { middle = co; least_capacity = mo.least_capacity;
             capacities = mo.capacities; excesses = mo.excesses;
             divergences = mo.divergences; set_of = mo.set_of; parts = [] } hs with
     | Some co0 -> Some (co0, cl0)
     | None -> None)
  | None -> None

(** val surprises :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list option **)

let rec surprises t s = function
| [] -> Some []
| n0 :: q0 ->
  (match surprises t s q0 with
   | Some l ->
     if Big_int_Z.eq_big_int n0 Big_int_Z.zero_big_int
     then Some (Big_int_Z.zero_big_int :: l)
     else (match log true (Big_int_Z.mult_big_int n0 t) s with
           | Some u -> Some ((Big_int_Z.mult_big_int n0 u) :: l)
           | None -> None)
   | None -> None)

(** val all_surprises :
    Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list option **)

let rec all_surprises w = function
| [] -> Some (zeros w)
| q :: cols1 ->
  (match surprises (zsum w) (zdot w q) q with
   | Some a ->
     (match all_surprises w cols1 with
      | Some b -> Some (zplus a b)
      | None -> None)
   | None -> None)

(** val capacity_there :
    problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) -> bool **)

let capacity_there pb d0 cols0 w ab =
  (&&)
    ((&&) (a_prior pb w)
      (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (snd ab)))
    (match all_surprises w cols0 with
     | Some l ->
       forallb (fun s ->
         Big_int_Z.le_big_int (Big_int_Z.mult_big_int s (snd ab))
           (Big_int_Z.mult_big_int (fst ab) (Big_int_Z.mult_big_int d d0))) l
     | None -> false)

(** val attach :
    Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list list **)

let rec attach q rs =
  match q with
  | [] -> []
  | n0 :: q0 ->
    (match rs with
     | [] -> []
     | r :: rs0 -> (n0 :: r) :: (attach q0 rs0))

(** val over :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec over g h a b =
  match a with
  | [] -> Big_int_Z.zero_big_int
  | n0 :: a0 ->
    (match b with
     | [] -> Big_int_Z.zero_big_int
     | m :: b0 ->
       Big_int_Z.add_big_int
         (Big_int_Z.max_big_int Big_int_Z.zero_big_int
           (Big_int_Z.sub_big_int (Big_int_Z.mult_big_int n0 h)
             (Big_int_Z.mult_big_int m g))) (over g h a0 b0))

(** val excess_there :
    problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (ratio * (Big_int_Z.big_int * Big_int_Z.big_int)) -> bool **)

let excess_there pb d0 cols0 gh l =
  let (g, h) = gh in
  let (a, b) = snd l in
  let rs = fold_right attach (map (fun _ -> []) pb.weights) cols0 in
  (&&)
    ((&&) (at_most (fst l) g h)
      (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b))
    (forallb (fun x ->
      forallb (fun z0 ->
        Big_int_Z.le_big_int (Big_int_Z.mult_big_int (over g h x z0) b)
          (Big_int_Z.mult_big_int a (Big_int_Z.mult_big_int h d0))) rs) rs)

(** val all2 : ('a1 -> 'a2 -> bool) -> 'a1 list -> 'a2 list -> bool **)

let rec all2 f l m =
  match l with
  | [] -> (match m with
           | [] -> true
           | _ :: _ -> false)
  | a :: l0 ->
    (match m with
     | [] -> false
     | b :: m0 -> (&&) (f a b) (all2 f l0 m0))

(** val silent : with_convex -> with_convex **)

let silent co =
  { inner = { plain = (emptied co.inner.plain); bonus = []; floors =
    co.inner.floors }; loss = None; limits = co.limits }

(** val displays :
    with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int
    -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int list
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) * Big_int_Z.big_int
    list list) option -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int list * Big_int_Z.big_int list list) list ->
    Big_int_Z.big_int list list -> bool **)

let displays mo claim0 d0 lows best nears members worths moments cols0 =
  let co = mo.middle in
  let pb = co.inner.plain in
  (match if mo.least_capacity
         then Some claim0
         else parts_there pb d0 cols0 mo.parts worths claim0 with
   | Some cl ->
     (&&)
       ((&&)
         ((&&)
           ((&&)
             ((&&)
               (if mo.least_capacity
                then realises (silent co) (Big_int_Z.zero_big_int,
                       Big_int_Z.unit_big_int) d0 lows cols0
                else realises co cl d0 lows cols0)
               (Big_int_Z.le_big_int
                 (Big_int_Z.mult_big_int
                   (Big_int_Z.mult_big_int
                     (Big_int_Z.mult_big_int (zlen mo.excesses)
                       (zlen pb.weights)) (zlen pb.weights)) (zlen cols0))
                 (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                 (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                 (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                 (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                 (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 (Big_int_Z.mult_int_big_int 2
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 (Big_int_Z.mult_int_big_int 2
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                 (Big_int_Z.mult_int_big_int 2
                 Big_int_Z.unit_big_int))))))))))))))))))))))))))))
             (all2 (excess_there pb d0 cols0) nears mo.excesses))
           (all2 (fun v sh0 ->
             divergence_there d0
               (fold_right attach (map (fun _ -> []) pb.weights) cols0) v sh0)
             mo.divergences moments))
         (match mo.set_of with
          | Some cf ->
            (match members with
             | Some y ->
               let (y0, ls) = y in
               let (y1, rt) = y0 in
               let (g, h) = y1 in
               confident_there pb.weights cf g h rt d0 cols0 ls
             | None -> false)
          | None -> (match members with
                     | Some _ -> false
                     | None -> true)))
       (if mo.least_capacity
        then (match best with
              | [] -> false
              | w :: best0 ->
                (&&)
                  (capacity_there pb d0 cols0 w
                    ((Big_int_Z.minus_big_int (fst cl)), (snd cl)))
                  (all2 (capacity_there pb d0 cols0) best0 mo.capacities))
        else (&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (snd claim0))
               (all2 (capacity_there pb d0 cols0) best mo.capacities))
   | None -> false)

(** val proves :
    with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
    Big_int_Z.big_int list list list -> Big_int_Z.big_int list list -> header
    -> token list -> bool **)

let proves mo cl hs touches points hd toks =
  match reduce mo cl hs with
  | Some p0 -> let (co, cl0) = p0 in accepts co cl0 touches points hd toks
  | None -> false

(** val denies :
    with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
    Big_int_Z.big_int list list list -> Big_int_Z.big_int list list -> header
    -> token list -> bool **)

let denies mo cl hs touches points hd toks =
  match reduce mo cl hs with
  | Some p0 -> let (co, _) = p0 in excludes co cl touches points hd toks
  | None -> false

type labels = { lunit : Big_int_Z.big_int; lprices : Big_int_Z.big_int list;
                step_ : (Big_int_Z.big_int * Big_int_Z.big_int);
                lengths : Big_int_Z.big_int list;
                powers : (Big_int_Z.big_int * Big_int_Z.big_int) list;
                order : Big_int_Z.big_int list;
                least_ : Big_int_Z.big_int list;
                links : (Big_int_Z.big_int * Big_int_Z.big_int) list;
                trees : Big_int_Z.big_int list list }

type lenv = { le : Big_int_Z.big_int; lt_ : Big_int_Z.big_int;
              lw : Big_int_Z.big_int list; la : Big_int_Z.big_int list;
              lstep : (Big_int_Z.big_int * Big_int_Z.big_int);
              away : Big_int_Z.big_int list list;
              lpow : (Big_int_Z.big_int * Big_int_Z.big_int) list;
              llinks : (Big_int_Z.big_int * Big_int_Z.big_int) list }

type limits_of = { lo : Big_int_Z.big_int list; hi : Big_int_Z.big_int list }

type ltoken =
| Cut of Big_int_Z.big_int * Big_int_Z.big_int
| End of Big_int_Z.big_int * Big_int_Z.big_int list list

(** val is_long :
    (Big_int_Z.big_int * Big_int_Z.big_int) -> ratio -> Big_int_Z.big_int ->
    bool **)

let is_long u r l =
  (&&) (Big_int_Z.le_big_int Big_int_Z.zero_big_int l)
    (match r with
     | Exp (a, b) ->
       (&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b)
         (Big_int_Z.le_big_int (Big_int_Z.mult_big_int a (snd u))
           (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int l (fst u)) b))
     | Frac (a, b) ->
       (&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int b)
         ((||) (Big_int_Z.le_big_int a b)
           (at_most (Exp ((Big_int_Z.mult_big_int l (fst u)), (snd u))) a b)))

(** val lab_edges :
    (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * ratio) list ->
    Big_int_Z.big_int list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list option **)

let rec lab_edges u k es ls =
  match es with
  | [] -> (match ls with
           | [] -> Some []
           | _ :: _ -> None)
  | p0 :: es0 ->
    let (p1, r) = p0 in
    let (x, z0) = p1 in
    (match ls with
     | [] -> None
     | l :: ls0 ->
       if (&&)
            ((&&)
              ((&&)
                ((&&) (is_long u r l)
                  (Big_int_Z.le_big_int Big_int_Z.zero_big_int x))
                (Big_int_Z.lt_big_int x k))
              (Big_int_Z.le_big_int Big_int_Z.zero_big_int z0))
            (Big_int_Z.lt_big_int z0 k)
       then (match lab_edges u k es0 ls0 with
             | Some t -> Some (((x, z0), l) :: t)
             | None -> None)
       else None)

(** val reach :
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) trie ->
    Big_int_Z.big_int list -> Big_int_Z.big_int trie -> Big_int_Z.big_int
    trie option **)

let rec reach t es dist0 =
  match es with
  | [] -> Some dist0
  | e :: es0 ->
    (match find e t with
     | Some p0 ->
       let (p1, l) = p0 in
       let (x, z0) = p1 in
       (match find x dist0 with
        | Some a -> reach t es0 (put z0 (Big_int_Z.add_big_int a l) dist0)
        | None -> None)
     | None -> None)

(** val collect :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int trie ->
    Big_int_Z.big_int list option **)

let rec collect i w dist0 =
  match w with
  | [] -> Some []
  | _ :: w0 ->
    (match find i dist0 with
     | Some a ->
       (match collect (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) w0
                dist0 with
        | Some l -> Some (a :: l)
        | None -> None)
     | None -> None)

(** val all_away :
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) trie ->
    Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int list
    list -> Big_int_Z.big_int list list option **)

let rec all_away t w s = function
| [] -> Some []
| es :: ts0 ->
  (match reach t es (put s Big_int_Z.zero_big_int Tip) with
   | Some dist0 ->
     (match collect Big_int_Z.zero_big_int w dist0 with
      | Some row0 ->
        (match all_away t w (Big_int_Z.add_big_int s Big_int_Z.unit_big_int)
                 ts0 with
         | Some l -> Some (row0 :: l)
         | None -> None)
      | None -> None)
   | None -> None)

(** val powers_ok :
    (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool **)

let rec powers_ok u m = function
| [] -> true
| p0 :: ps0 ->
  let (n0, n1) = p0 in
  (&&)
    ((&&)
      ((&&)
        ((||) (Big_int_Z.eq_big_int n0 Big_int_Z.zero_big_int)
          (at_least (Exp ((Big_int_Z.mult_big_int m (fst u)), (snd u))) d n0))
        (Big_int_Z.lt_big_int Big_int_Z.zero_big_int n1))
      (at_most (Exp ((Big_int_Z.mult_big_int m (fst u)), (snd u))) d n1))
    (powers_ok u (Big_int_Z.add_big_int m Big_int_Z.unit_big_int) ps0)

(** val cap :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec cap c row0 hi0 =
  match row0 with
  | [] -> hi0
  | a :: row1 ->
    (match hi0 with
     | [] -> hi0
     | h :: hi1 ->
       (Big_int_Z.min_big_int h (Big_int_Z.add_big_int c a)) :: (cap c row1
                                                                  hi1))

(** val lift :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec lift x c rows0 lo0 =
  match rows0 with
  | [] -> lo0
  | row0 :: rows1 ->
    (match lo0 with
     | [] -> lo0
     | l :: lo1 ->
       (match nthz x row0 with
        | Some a -> Big_int_Z.max_big_int l (Big_int_Z.sub_big_int c a)
        | None -> l) :: (lift x c rows1 lo1))

(** val close_least :
    Big_int_Z.big_int list list -> Big_int_Z.big_int -> Big_int_Z.big_int
    list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec close_least rows0 i b lo0 =
  match b with
  | [] -> lo0
  | c :: b0 ->
    close_least rows0 (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) b0
      (lift i c rows0 lo0)

(** val lab_roots :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> limits_of list option **)

let rec lab_roots rows0 b order0 lo0 =
  match order0 with
  | [] -> Some []
  | s :: order1 ->
    (match nthz s rows0 with
     | Some row0 ->
       (match nthz s b with
        | Some c ->
          (match lab_roots rows0 b order1
                   (lift s (Big_int_Z.add_big_int c Big_int_Z.unit_big_int)
                     rows0 lo0) with
           | Some l ->
             Some ({ lo = lo0; hi =
               (map (Big_int_Z.add_big_int c) row0) } :: l)
           | None -> None)
        | None -> None)
     | None -> None)

(** val drop : Big_int_Z.big_int -> 'a1 list -> 'a1 list **)

let rec drop i l =
  if Big_int_Z.le_big_int i Big_int_Z.zero_big_int
  then l
  else (match l with
        | [] -> []
        | _ :: l0 -> drop (Big_int_Z.sub_big_int i Big_int_Z.unit_big_int) l0)

(** val cells0 :
    (Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int) -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int list **)

let rec cells0 f h m = function
| [] -> []
| p0 :: ps0 ->
  if Big_int_Z.le_big_int m h
  then (f m p0) :: (cells0 f h
                     (Big_int_Z.add_big_int m Big_int_Z.unit_big_int) ps0)
  else []

(** val table_cell :
    lenv -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int **)

let table_cell en s w a m p0 =
  let c =
    Big_int_Z.minus_big_int
      (Big_int_Z.add_big_int
        (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int en.le w)
          (Big_int_Z.add_big_int
            (Z.div
              (Big_int_Z.mult_big_int
                (Big_int_Z.mult_big_int (fst en.lstep) m) d) (snd en.lstep))
            s)) (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int en.lt_ a) d))
  in
  if Big_int_Z.le_big_int Big_int_Z.zero_big_int c
  then Big_int_Z.mult_big_int c (snd p0)
  else Big_int_Z.mult_big_int c (fst p0)

(** val tables :
    lenv -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list **)

let rec tables en s w a lo0 hi0 =
  match w with
  | [] -> []
  | w0 :: w1 ->
    (match a with
     | [] -> []
     | a0 :: a1 ->
       (match lo0 with
        | [] -> []
        | l :: lo1 ->
          (match hi0 with
           | [] -> []
           | h :: hi1 ->
             (l,
               (cells0 (table_cell en s w0 a0) h l (drop l en.lpow))) :: 
               (tables en s w1 a1 lo1 hi1))))

(** val raised :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec raised y j i = function
| [] -> []
| h :: t0 ->
  (if Big_int_Z.le_big_int j i then Big_int_Z.add_big_int h y else h) :: 
    (raised y j (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) t0)

(** val add_at :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list **)

let add_at x y j tabs =
  updz x (fun lt -> ((fst lt), (raised y j (fst lt) (snd lt)))) tabs

(** val dist :
    Big_int_Z.big_int list list -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int option **)

let dist rows0 x z0 =
  match nthz x rows0 with
  | Some row0 -> nthz z0 row0
  | None -> None

(** val flow_on :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list option **)

let rec flow_on x z0 a j ys tabs =
  match ys with
  | [] -> Some tabs
  | y :: ys0 ->
    if Big_int_Z.le_big_int Big_int_Z.zero_big_int y
    then flow_on x z0 a (Big_int_Z.add_big_int j Big_int_Z.unit_big_int) ys0
           (add_at z0 (Big_int_Z.minus_big_int y) j
             (add_at x y (Big_int_Z.sub_big_int j a) tabs))
    else None

(** val known_at :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
    bool **)

let known_at x tabs =
  match nthz x tabs with
  | Some _ -> true
  | None -> false

(** val flows_on :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list option **)

let rec flows_on rows0 fl tabs =
  match fl with
  | [] -> Some tabs
  | l :: fl0 ->
    (match l with
     | [] -> None
     | x :: l0 ->
       (match l0 with
        | [] -> None
        | z0 :: l1 ->
          (match l1 with
           | [] -> None
           | j :: ys ->
             (match dist rows0 x z0 with
              | Some a ->
                if (&&) (known_at x tabs) (known_at z0 tabs)
                then (match flow_on x z0 a j ys tabs with
                      | Some tabs0 -> flows_on rows0 fl0 tabs0
                      | None -> None)
                else None
              | None -> None))))

(** val pick0 :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec pick0 a b i = function
| [] -> []
| h :: t0 ->
  if (&&) (Big_int_Z.le_big_int a i) (Big_int_Z.le_big_int i b)
  then h :: (pick0 a b (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) t0)
  else pick0 a b (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) t0

(** val maxz : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec maxz = function
| [] -> Big_int_Z.zero_big_int
| a :: l0 ->
  (match l0 with
   | [] -> a
   | _ :: _ -> Big_int_Z.max_big_int a (maxz l0))

(** val summed0 :
    (Big_int_Z.big_int -> Big_int_Z.big_int) -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec summed0 g i = function
| [] -> []
| h :: t0 ->
  (Big_int_Z.add_big_int h (g i)) :: (summed0 g
                                       (Big_int_Z.add_big_int i
                                         Big_int_Z.unit_big_int) t0)

(** val links_on :
    Big_int_Z.big_int list list -> (Big_int_Z.big_int * Big_int_Z.big_int)
    list -> (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list option **)

let rec links_on rows0 ls tabs =
  match ls with
  | [] -> Some tabs
  | p0 :: ls0 ->
    let (x, z0) = p0 in
    (match dist rows0 x z0 with
     | Some a ->
       (match dist rows0 z0 x with
        | Some b ->
          (match nthz x tabs with
           | Some p1 ->
             let (l, t) = p1 in
             (match nthz z0 tabs with
              | Some _ ->
                if Big_int_Z.eq_big_int x z0
                then None
                else links_on rows0 ls0
                       (updz x (fun lt -> ((fst lt), (zeros (snd lt))))
                         (updz z0 (fun lt -> ((fst lt),
                           (summed0 (fun m ->
                             maxz
                               (pick0 (Big_int_Z.sub_big_int m a)
                                 (Big_int_Z.add_big_int m b) l t)) (fst lt)
                             (snd lt)))) tabs))
              | None -> None)
           | None -> None)
        | None -> None)
     | None -> None)

(** val largest :
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int **)

let rec largest = function
| [] -> Big_int_Z.zero_big_int
| p0 :: tabs0 ->
  let (_, t) = p0 in Big_int_Z.add_big_int (maxz t) (largest tabs0)

(** val crossed : Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool **)

let rec crossed lo0 hi0 =
  match lo0 with
  | [] -> false
  | l :: lo1 ->
    (match hi0 with
     | [] -> false
     | h :: hi1 -> (||) (Big_int_Z.lt_big_int h l) (crossed lo1 hi1))

(** val lab_leaf :
    lenv -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> limits_of ->
    bool **)

let lab_leaf en t fl st =
  (||) (crossed st.lo st.hi)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (nonnegative st.lo)
            (forallb (fun h -> Big_int_Z.lt_big_int h (zlen en.lpow)) st.hi))
          (alike en.lw st.lo)) (alike en.lw st.hi))
      (match log false t d with
       | Some l ->
         (match flows_on en.away fl
                  (tables en (Big_int_Z.add_big_int d l) en.lw en.la st.lo
                    st.hi) with
          | Some tabs ->
            (match links_on en.away en.llinks tabs with
             | Some tabs0 ->
               Big_int_Z.le_big_int
                 (Big_int_Z.add_big_int
                   (Big_int_Z.mult_big_int
                     (Big_int_Z.mult_big_int
                       (Big_int_Z.mult_big_int en.le en.lt_) t) d)
                   (largest tabs0)) Big_int_Z.zero_big_int
             | None -> false)
          | None -> false)
       | None -> false))

(** val lab_step : lenv -> ltoken -> limits_of -> limits_of list option **)

let lab_step en tok st =
  match tok with
  | Cut (x, c) ->
    (match nthz x en.away with
     | Some row0 ->
       Some ({ lo = st.lo; hi = (cap c row0 st.hi) } :: ({ lo =
         (lift x (Big_int_Z.add_big_int c Big_int_Z.unit_big_int) en.away
           st.lo); hi = st.hi } :: []))
     | None -> None)
  | End (t, fl) -> if lab_leaf en t fl st then Some [] else None

(** val lab_advance :
    lenv -> ltoken -> limits_of list -> limits_of list option **)

let lab_advance en tok = function
| [] -> None
| st :: stack0 ->
  (match lab_step en tok st with
   | Some l -> Some (app l stack0)
   | None -> None)

(** val lab_start :
    with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) -> labels ->
    (lenv * limits_of list) option **)

let lab_start co cl lb =
  let pb = co.inner.plain in
  let w = pb.weights in
  let e = lb.lunit in
  (match pb.objective with
   | Information groups0 ->
     (match groups0 with
      | [] -> None
      | g :: l ->
        (match l with
         | [] ->
           (match pb.base with
            | Graph es ->
              (match co.loss with
               | Some _ -> None
               | None ->
                 (match co.inner.bonus with
                  | [] ->
                    if (&&)
                         ((&&)
                           ((&&)
                             ((&&)
                               ((&&)
                                 ((&&)
                                   ((&&)
                                     ((&&)
                                       ((&&)
                                         ((&&)
                                           ((&&) (same g w) (well_formed pb))
                                           (Big_int_Z.lt_big_int
                                             Big_int_Z.zero_big_int e))
                                         (Big_int_Z.lt_big_int
                                           Big_int_Z.zero_big_int (snd cl)))
                                       (alike lb.lprices w))
                                     (alike lb.least_ w))
                                   (pays cl e (zsum lb.lprices)))
                                 (Big_int_Z.lt_big_int Big_int_Z.zero_big_int
                                   (fst lb.step_)))
                               (Big_int_Z.lt_big_int Big_int_Z.zero_big_int
                                 (snd lb.step_)))
                             (powers_ok lb.step_ Big_int_Z.zero_big_int
                               lb.powers)) (alike lb.trees w))
                         (forallb (fun x ->
                           existsb (Big_int_Z.eq_big_int x) lb.order)
                           (numbers (zlen w) (fun x -> x)))
                    then (match lab_edges lb.step_ (zlen w) es lb.lengths with
                          | Some t ->
                            (match all_away
                                     (number Big_int_Z.zero_big_int t Tip) w
                                     Big_int_Z.zero_big_int lb.trees with
                             | Some rows0 ->
                               (match lab_roots rows0 lb.least_ lb.order
                                        (close_least rows0
                                          Big_int_Z.zero_big_int lb.least_
                                          lb.least_) with
                                | Some roots0 ->
                                  Some ({ le = e; lt_ = (zsum w); lw = w;
                                    la = lb.lprices; lstep = lb.step_; away =
                                    rows0; lpow = lb.powers; llinks =
                                    lb.links }, roots0)
                                | None -> None)
                             | None -> None)
                          | None -> None)
                    else None
                  | _ :: _ -> None))
            | _ -> None)
         | _ :: _ -> None))
   | _ -> None)

type whole = { boxes : ent list list; acts : Big_int_Z.big_int list list;
               counts0 : (((Big_int_Z.big_int * Big_int_Z.big_int)
                         list * Big_int_Z.big_int) * bool) list }

type rim = { below : (Big_int_Z.big_int * Big_int_Z.big_int) list;
             extras : ((Big_int_Z.big_int * Big_int_Z.big_int)
                      list * Big_int_Z.big_int) list;
             each_ : Big_int_Z.big_int list }

type single = { price : Big_int_Z.big_int list; box : ent list;
                near : rim option }

type mstate =
| Matrix of whole
| One of single
| Tree of state

type mtoken =
| Tok of token
| Act of Big_int_Z.big_int * Big_int_Z.big_int
| Number of (Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int
| Price of Big_int_Z.big_int list * Big_int_Z.big_int list
   * Big_int_Z.big_int list * Big_int_Z.big_int list

type mat = { menv : env; cenv : env;
             gains : Big_int_Z.big_int list list option;
             mden : Big_int_Z.big_int; mscale : Big_int_Z.big_int;
             mbase : Big_int_Z.big_int trie; top : ent;
             one : Big_int_Z.big_int; measures : Big_int_Z.big_int list list;
             common : Big_int_Z.big_int; munit : Big_int_Z.big_int }

(** val cap0 : Big_int_Z.big_int -> Big_int_Z.big_int -> ent -> ent **)

let cap0 c p0 e =
  match e.high with
  | Some p1 ->
    let (h, _) = p1 in
    if Big_int_Z.le_big_int h c
    then e
    else { low = e.low; plow = e.plow; high = (Some (c, p0)) }
  | None -> { low = e.low; plow = e.plow; high = (Some (c, p0)) }

(** val lift_ : Big_int_Z.big_int -> Big_int_Z.big_int -> ent -> ent **)

let lift_ c p0 e =
  if Big_int_Z.le_big_int c e.low
  then e
  else { low = c; plow = p0; high = e.high }

(** val ones_left : ent list -> Big_int_Z.big_int **)

let rec ones_left = function
| [] -> Big_int_Z.zero_big_int
| e :: b0 ->
  Big_int_Z.add_big_int
    (if Big_int_Z.le_big_int e.low d
     then Big_int_Z.unit_big_int
     else Big_int_Z.zero_big_int) (ones_left b0)

(** val tight : Big_int_Z.big_int -> ent list -> ent list **)

let tight p1 b =
  if Big_int_Z.eq_big_int (ones_left b) Big_int_Z.unit_big_int
  then map (fun e -> if Big_int_Z.le_big_int e.low d then cap0 d p1 e else e)
         b
  else b

(** val crossed0 : ent -> bool **)

let crossed0 e =
  match e.high with
  | Some p0 -> let (h, _) = p0 in Big_int_Z.lt_big_int h e.low
  | None -> false

(** val shut : ent list -> bool **)

let shut b =
  (||) (Big_int_Z.eq_big_int (ones_left b) Big_int_Z.zero_big_int)
    (existsb crossed0 b)

(** val same_ent : ent -> ent -> bool **)

let same_ent a b =
  (&&)
    ((&&) (Big_int_Z.eq_big_int a.low b.low)
      (Big_int_Z.eq_big_int a.plow b.plow))
    (match a.high with
     | Some p0 ->
       let (h, p1) = p0 in
       (match b.high with
        | Some p2 ->
          let (i, q) = p2 in
          (&&) (Big_int_Z.eq_big_int h i) (Big_int_Z.eq_big_int p1 q)
        | None -> false)
     | None -> (match b.high with
                | Some _ -> false
                | None -> true))

(** val same_box : ent list -> ent list -> bool **)

let rec same_box a b =
  match a with
  | [] -> (match b with
           | [] -> true
           | _ :: _ -> false)
  | x :: a0 ->
    (match b with
     | [] -> false
     | y :: b0 -> (&&) (same_ent x y) (same_box a0 b0))

(** val inside0 :
    ent list -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool **)

let inside0 b s =
  forallb (fun xc ->
    match nthz (fst xc) b with
    | Some e -> Big_int_Z.le_big_int (snd xc) e.low
    | None -> false) s

(** val outside :
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool **)

let outside l s =
  existsb (fun xc ->
    existsb (fun yc ->
      (&&) (Big_int_Z.eq_big_int (fst xc) (fst yc))
        (Big_int_Z.le_big_int (snd yc) (snd xc))) l) s

(** val settled : single -> Big_int_Z.big_int list **)

let settled p0 =
  match p0.near with
  | Some r ->
    fold_right (fun sn q ->
      if inside0 p0.box (fst sn)
      then zplus q (zscale (snd sn) r.each_)
      else if outside r.below (fst sn)
           then q
           else zplus q
                  (zscale
                    (Big_int_Z.min_big_int Big_int_Z.zero_big_int (snd sn))
                    r.each_)) p0.price r.extras
  | None -> p0.price

(** val square_leaf :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> ent list -> bool -> bool **)

let square_leaf e t w q b upper0 =
  let o = zeros w in
  let s = zplus (zscale e w) q in
  let edge0 = fun q0 ->
    if upper0
    then endsum o q0 b
    else (match endsum o
                  (zscale (Big_int_Z.minus_big_int Big_int_Z.unit_big_int) q0)
                  b with
          | Some r -> Some (Big_int_Z.minus_big_int r)
          | None -> None)
  in
  (match edge0 w with
   | Some w0 ->
     (match edge0 s with
      | Some s0 ->
        (match endsum (zscale (Big_int_Z.mult_big_int e t) w)
                 (zscale (Big_int_Z.minus_big_int d)
                   (zplus (zscale w0 s) (zscale s0 w))) b with
         | Some r ->
           Big_int_Z.le_big_int
             (Big_int_Z.add_big_int
               (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int w0 s0) d) r)
             Big_int_Z.zero_big_int
         | None -> false)
      | None -> false)
   | None -> false)

(** val single_leaf :
    env -> single -> Big_int_Z.big_int list -> mult -> bool **)

let single_leaf en p0 ts m =
  (||)
    (match p0.near with
     | Some _ ->
       Big_int_Z.eq_big_int (ones_left p0.box) Big_int_Z.zero_big_int
     | None -> false)
    (let q = settled p0 in
     match en.knd with
     | Square ->
       let ends = square_leaf en.unit_ en.total_ en.wts q p0.box in
       (match ts with
        | [] ->
          let { flows = flows0; against = against0; along = along0 } = m in
          (match flows0 with
           | [] ->
             (match against0 with
              | [] ->
                (match along0 with
                 | [] -> (||) (ends true) (ends false)
                 | _ :: _ -> false)
              | _ :: _ -> false)
           | _ :: _ -> false)
        | _ :: _ -> false)
     | _ -> leaf en q { ents = p0.box; lims = [] } ts m)

(** val prices_of :
    Big_int_Z.big_int list list option -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list list option **)

let rec prices_of g e den w own0 acts0 =
  match g with
  | Some gs ->
    (match acts0 with
     | [] -> Some []
     | a :: acts1 ->
       (match nthz a gs with
        | Some g0 ->
          (match prices_of g e den w own0 acts1 with
           | Some l ->
             Some
               ((zplus (zscale den own0)
                  (zscale (Big_int_Z.minus_big_int e) (products w g0))) :: l)
           | None -> None)
        | None -> None))
  | None -> Some (own0 :: [])

type duty = { down : Big_int_Z.big_int list; where_ : ent list;
              whose : Big_int_Z.big_int list; even : Big_int_Z.big_int list }

(** val sums_of :
    Big_int_Z.big_int -> Big_int_Z.big_int list ->
    (((Big_int_Z.big_int * Big_int_Z.big_int)
    list * Big_int_Z.big_int) * bool) list -> Big_int_Z.big_int option **)

let rec sums_of r ns cs =
  match ns with
  | [] -> (match cs with
           | [] -> Some Big_int_Z.zero_big_int
           | _ :: _ -> None)
  | n0 :: ns0 ->
    (match cs with
     | [] -> None
     | p0 :: cs0 ->
       let (p1, le0) = p0 in
       let (_, n1) = p1 in
       (match sums_of r ns0 cs0 with
        | Some r0 ->
          if if le0
             then Big_int_Z.le_big_int Big_int_Z.zero_big_int n0
             else Big_int_Z.le_big_int n0 Big_int_Z.zero_big_int
          then Some
                 (Big_int_Z.add_big_int r0
                   (Big_int_Z.mult_big_int n0
                     (Big_int_Z.mult_big_int r
                       (if le0
                        then n1
                        else Big_int_Z.add_big_int n1 Big_int_Z.unit_big_int))))
          else None
        | None -> None))

(** val extras_of :
    Big_int_Z.big_int -> Big_int_Z.big_int list ->
    (((Big_int_Z.big_int * Big_int_Z.big_int)
    list * Big_int_Z.big_int) * bool) list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int) list **)

let rec extras_of c ns cs =
  match ns with
  | [] -> []
  | n0 :: ns0 ->
    (match cs with
     | [] -> []
     | p0 :: cs0 ->
       let (p1, _) = p0 in
       let (s, _) = p1 in
       (s, (Big_int_Z.mult_big_int c n0)) :: (extras_of c ns0 cs0))

(** val duties :
    mat -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int
    trie -> ent list list -> Big_int_Z.big_int list list -> duty list **)

let rec duties mt y a t bs acts0 =
  match bs with
  | [] -> []
  | b :: bs0 ->
    (match acts0 with
     | [] -> []
     | a0 :: acts1 ->
       let k = zlen a in
       { down =
       (zscale mt.menv.total_
         (merge (Big_int_Z.mult_big_int y k) t (zscale mt.mscale a)));
       where_ = (tight mt.one b); whose = a0; even =
       (match nthz y mt.measures with
        | Some c -> c
        | None -> []) } :: (duties mt
                             (Big_int_Z.add_big_int y Big_int_Z.unit_big_int)
                             a t bs0 acts1))

(** val same_duty : duty -> duty -> bool **)

let same_duty a b =
  (&&)
    ((&&) ((&&) (same a.down b.down) (same_box a.where_ b.where_))
      (same a.whose b.whose)) (same a.even b.even)

(** val whole_tree :
    mat -> ((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int)
    list -> duty -> mstate list option **)

let whole_tree mt ex u =
  let w = mt.menv.wts in
  (match mt.gains with
   | Some _ -> None
   | None ->
     (match ex with
      | [] ->
        (match mt.cenv.corner with
         | Some p0 ->
           let (g, _) = p0 in
           if same_box u.where_ (map (fun _ -> mt.top) w)
           then Some ((Tree { own = u.down; cols = ({ ents = u.where_; lims =
                  (((Big_int_Z.mult_big_int (zsum w) d),
                  (Big_int_Z.mult_big_int (zsum w) g)) :: (((Big_int_Z.mult_big_int
                                                              (zlen w) d),
                  (Big_int_Z.mult_big_int (zlen w) g)) :: [])) } :: []) }) :: [])
           else None
         | None -> None)
      | _ :: _ -> None))

(** val child :
    mat -> ((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int)
    list -> duty list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> mstate list option **)

let child mt ex us ways y way =
  match nthz y us with
  | Some u ->
    if shut u.where_
    then Some []
    else if Big_int_Z.eq_big_int way y
         then (match prices_of mt.gains mt.menv.unit_ mt.mden mt.menv.wts
                       u.down u.whose with
               | Some qs ->
                 Some
                   (map (fun q -> One { price = q; box = u.where_; near =
                     (Some { below = []; extras =
                     (map (fun sn -> ((fst sn),
                       (Big_int_Z.mult_big_int mt.mden (snd sn)))) ex);
                     each_ = u.even }) }) qs)
               | None -> None)
         else if Big_int_Z.eq_big_int way (Big_int_Z.minus_big_int
                   Big_int_Z.unit_big_int)
              then whole_tree mt ex u
              else (match nthz way us with
                    | Some v ->
                      (match nthz way ways with
                       | Some w ->
                         if (&&) (same_duty u v)
                              ((||) (Big_int_Z.eq_big_int w way)
                                (Big_int_Z.eq_big_int w
                                  (Big_int_Z.minus_big_int
                                  Big_int_Z.unit_big_int)))
                         then Some []
                         else None
                       | None -> None)
                    | None -> None)
  | None -> None

(** val children :
    mat -> ((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int)
    list -> duty list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> mstate list option **)

let rec children mt ex us ways y = function
| [] -> Some []
| way :: l0 ->
  (match child mt ex us ways y way with
   | Some a ->
     (match children mt ex us ways
              (Big_int_Z.add_big_int y Big_int_Z.unit_big_int) l0 with
      | Some b -> Some (app a b)
      | None -> None)
   | None -> None)

(** val priced :
    mat -> whole -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> mstate list option **)

let priced mt w a l ns ways =
  let en = mt.menv in
  (match add_rows (zlen en.wts) mt.mscale en.couplings l mt.mbase
           Big_int_Z.zero_big_int with
   | Some p0 ->
     let (t, b) = p0 in
     (match sums_of mt.common ns w.counts0 with
      | Some c ->
        if (&&)
             ((&&) ((&&) (alike a en.wts) (alike ways w.boxes))
               (match ns with
                | [] -> true
                | _ :: _ ->
                  (match mt.measures with
                   | [] -> false
                   | _ :: _ -> true)))
             (pays en.claim mt.munit
               (Big_int_Z.add_big_int (Big_int_Z.add_big_int (zsum a) b) c))
        then children mt
               (extras_of (Big_int_Z.mult_big_int en.total_ mt.mscale) ns
                 w.counts0)
               (duties mt Big_int_Z.zero_big_int a t w.boxes w.acts) ways
               Big_int_Z.zero_big_int ways
        else None
      | None -> None)
   | None -> None)

(** val mstep : mat -> mtoken -> mstate -> mstate list option **)

let mstep mt tok st =
  let kd = mt.menv.knd in
  (match st with
   | Matrix w ->
     (match tok with
      | Tok t ->
        (match t with
         | Split (y, x, c) ->
           (match nthz y w.boxes with
            | Some b ->
              (match phi_up kd c with
               | Some p0 ->
                 (match nthz x b with
                  | Some _ ->
                    let now = fun f -> Matrix { boxes =
                      (updz y (updz x f) w.boxes); acts = w.acts; counts0 =
                      w.counts0 }
                    in
                    Some ((now (cap0 c p0)) :: ((now (lift_ c p0)) :: []))
                  | None -> None)
               | None -> None)
            | None -> None)
         | _ -> None)
      | Act (y, a) ->
        (match nthz y w.acts with
         | Some _ ->
           let now = fun f -> Matrix { boxes = w.boxes; acts =
             (updz y f w.acts); counts0 = w.counts0 }
           in
           Some
           ((now (fun _ -> a :: [])) :: ((now
                                           (filter (fun b ->
                                             negb (Big_int_Z.eq_big_int b a)))) :: []))
         | None -> None)
      | Number (s, n0) ->
        let now = fun le0 -> Matrix { boxes = w.boxes; acts = w.acts;
          counts0 = (((s, n0), le0) :: w.counts0) }
        in
        Some ((now true) :: ((now false) :: []))
      | Price (a, l, ns, ways) -> priced mt w a l ns ways)
   | One p0 ->
     (match tok with
      | Tok t ->
        (match t with
         | Split (y, x, c) ->
           (match p0.near with
            | Some r ->
              (match nthz x p0.box with
               | Some _ ->
                 (match phi_up kd c with
                  | Some q ->
                    if Big_int_Z.eq_big_int y Big_int_Z.zero_big_int
                    then Some ((One { price = p0.price; box =
                           (updz x (cap0 c q) p0.box); near = (Some { below =
                           ((x, c) :: r.below); extras = r.extras; each_ =
                           r.each_ }) }) :: ((One { price = p0.price; box =
                           (updz x (lift_ c q) p0.box); near =
                           p0.near }) :: []))
                    else None
                  | None -> None)
               | None -> None)
            | None -> None)
         | Fix x ->
           (match nthz x p0.box with
            | Some e ->
              (match e.high with
               | Some p1 ->
                 let (h, q) = p1 in
                 if Big_int_Z.le_big_int d e.low
                 then let now = fun e0 -> One { price = (settled p0); box =
                        (updz x (fun _ -> e0) p0.box); near = None }
                      in
                      Some
                      ((now { low = h; plow = q; high = (Some (h, q)) }) :: (
                      (now { low = e.low; plow = e.plow; high = (Some (e.low,
                        e.plow)) }) :: []))
                 else None
               | None -> None)
            | None -> None)
         | Leaf (ts, m) ->
           if single_leaf mt.menv p0 ts m then Some [] else None
         | _ -> None)
      | _ -> None)
   | Tree st0 ->
     (match tok with
      | Tok t ->
        (match step mt.cenv t st0 with
         | Some l -> Some (map (fun x -> Tree x) l)
         | None -> None)
      | _ -> None))

(** val mat_advance : mat -> mtoken -> mstate list -> mstate list option **)

let mat_advance mt tok = function
| [] -> None
| st :: stack0 ->
  (match mstep mt tok st with
   | Some l -> Some (app l stack0)
   | None -> None)

(** val aimed :
    with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
    (((problem * (Big_int_Z.big_int * Big_int_Z.big_int)) * (Big_int_Z.big_int * terms)) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option **)

let aimed mo cl hs =
  match mo.parts with
  | [] ->
    (match reduce mo cl hs with
     | Some p0 ->
       let (co, cl0) = p0 in
       (match co.loss with
        | Some _ -> None
        | None ->
          (match co.inner.bonus with
           | [] ->
             Some (((co.inner.plain, (Big_int_Z.unit_big_int,
               Big_int_Z.unit_big_int)), (Big_int_Z.unit_big_int, [])), cl0)
           | _ :: _ -> None))
     | None -> None)
  | p0 :: l ->
    let (u, ab) = p0 in
    (match l with
     | [] ->
       let co = mo.middle in
       let pb = co.inner.plain in
       (match co.loss with
        | Some _ -> None
        | None ->
          (match co.inner.bonus with
           | [] ->
             (match pb.objective with
              | Linear (den, cost) ->
                if (&&) ((&&) (negb mo.least_capacity) (well_formed pb))
                     (alike u.prior pb.weights)
                then Some ((({ weights = u.prior; objective = u.aim; base =
                       pb.base; halfspaces = []; outputs = pb.outputs; rows =
                       pb.rows }, ab), (den, cost)), cl)
                else None
              | _ -> None)
           | _ :: _ -> None))
     | _ :: _ -> None)

(** val split_at :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list * Big_int_Z.big_int list **)

let rec split_at w l =
  match w with
  | [] -> ([], l)
  | _ :: w0 ->
    (match l with
     | [] -> ([], l)
     | a :: l0 -> let (p0, q) = split_at w0 l0 in ((a :: p0), q))

(** val at_most_common :
    problem -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    list -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int -> bool **)

let at_most_common pb m y c a l r =
  let k = zlen pb.weights in
  (match add_rows k Big_int_Z.unit_big_int pb.rows l Tip
           Big_int_Z.zero_big_int with
   | Some p0 ->
     let (t, b) = p0 in
     (&&) (Big_int_Z.le_big_int (Big_int_Z.add_big_int (zsum a) b) r)
       (forallb (fun z0 ->
         same (merge (Big_int_Z.mult_big_int z0 k) t a)
           (if Big_int_Z.eq_big_int z0 y then c else zeros a))
         (numbers m (fun z0 -> z0)))
   | None -> false)

(** val measured :
    problem -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list option **)

let rec measured pb m r y = function
| [] -> Some []
| l :: ls0 ->
  let (c, r0) = split_at pb.weights l in
  let (a, l0) = split_at pb.weights r0 in
  let n0 = zscale (Big_int_Z.minus_big_int Big_int_Z.unit_big_int) in
  if (&&)
       ((&&)
         ((&&) ((&&) (alike c pb.weights) (alike a pb.weights))
           (nonnegative c)) (at_most_common pb m y c a l0 r))
       (at_most_common pb m y (n0 c) (n0 a) (n0 l0)
         (Big_int_Z.minus_big_int r))
  then (match measured pb m r
                (Big_int_Z.add_big_int y Big_int_Z.unit_big_int) ls0 with
        | Some s -> Some (c :: s)
        | None -> None)
  else None

(** val mat_start :
    with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    Big_int_Z.big_int -> Big_int_Z.big_int list list -> (mat * mstate list)
    option **)

let mat_start mo cl hs e ratios r ms =
  match aimed mo cl hs with
  | Some p0 ->
    let (p1, cl0) = p0 in
    let (p2, p3) = p1 in
    let (pb, p4) = p2 in
    let (a, b) = p4 in
    let (den, cost) = p3 in
    let w = pb.weights in
    let t = zsum w in
    let k = zlen w in
    (match pb.outputs with
     | Some m ->
       (match pb.base with
        | Complete r0 ->
          (match ratios with
           | [] -> None
           | p5 :: l ->
             let (g, h) = p5 in
             (match l with
              | [] ->
                let kd = kind_of pb in
                (match phi_up kd d with
                 | Some p6 ->
                   (match phi_up kd g with
                    | Some p7 ->
                      (match measured pb m r Big_int_Z.zero_big_int ms with
                       | Some cs ->
                         let e' =
                           Big_int_Z.mult_big_int
                             (Big_int_Z.mult_big_int a den) e
                         in
                         let gs =
                           match pb.objective with
                           | Linear (_, _) -> None
                           | Bayes (_, gs) -> Some gs
                           | _ -> None
                         in
                         let gden =
                           match pb.objective with
                           | Bayes (d0, _) -> d0
                           | _ -> Big_int_Z.unit_big_int
                         in
                         if (&&)
                              ((&&)
                                ((&&)
                                  ((&&)
                                    ((&&)
                                      ((&&)
                                        ((&&)
                                          ((&&)
                                            ((&&)
                                              ((&&)
                                                ((&&) (well_formed pb)
                                                  (Big_int_Z.lt_big_int
                                                    Big_int_Z.zero_big_int e))
                                                (Big_int_Z.lt_big_int
                                                  Big_int_Z.zero_big_int
                                                  (snd cl0)))
                                              (Big_int_Z.lt_big_int
                                                Big_int_Z.zero_big_int a))
                                            (Big_int_Z.lt_big_int
                                              Big_int_Z.zero_big_int b))
                                          (Big_int_Z.lt_big_int
                                            Big_int_Z.zero_big_int den))
                                        (Big_int_Z.le_big_int
                                          Big_int_Z.zero_big_int r))
                                      (at_least r0 g h))
                                    (Big_int_Z.eq_big_int h d))
                                  (Big_int_Z.le_big_int d g))
                                (match pb.objective with
                                 | Linear (_, _) -> false
                                 | _ -> true))
                              (match cs with
                               | [] -> true
                               | _ :: _ -> Big_int_Z.eq_big_int (zlen cs) m)
                         then Some ({ menv = { knd = kd; unit_ = e'; total_ =
                                t; wts = w; groups = (groups_of pb); corner =
                                None; edges = NoEdges; halfs = []; forms =
                                []; couplings = pb.rows; claim = cl0;
                                sheets = false }; cenv = { knd = kd; unit_ =
                                e'; total_ = t; wts = w; groups =
                                (groups_of pb); corner = (Some (g, p7));
                                edges = NoEdges; halfs = []; forms =
                                (w :: ((map (fun _ -> Big_int_Z.unit_big_int)
                                         w) :: [])); couplings = pb.rows;
                                claim = cl0; sheets = false }; gains = gs;
                                mden = gden; mscale =
                                (Big_int_Z.mult_big_int b den); mbase =
                                (add_terms k
                                  (Big_int_Z.minus_big_int
                                    (Big_int_Z.mult_big_int b e)) cost Tip);
                                top = { low = d; plow = p6; high = (Some (g,
                                p7)) }; one = p6; measures = cs; common = r;
                                munit = e }, ((Matrix { boxes =
                                (numbers m (fun _ ->
                                  map (fun _ -> { low = d; plow = p6; high =
                                    (Some (g, p7)) }) w)); acts =
                                (numbers m (fun _ ->
                                  match gs with
                                  | Some gs0 ->
                                    numbers (zlen gs0) (fun a0 -> a0)
                                  | None -> [])); counts0 = [] }) :: []))
                         else None
                       | None -> None)
                    | None -> None)
                 | None -> None)
              | _ :: _ -> None))
        | _ -> None)
     | None -> None)
  | None -> None

type design =
| Trace of Big_int_Z.big_int * Big_int_Z.big_int list list
| Eigenvalue
| Determinant

type lone = { due : Big_int_Z.big_int list;
              quads : Big_int_Z.big_int list list; room : ent list;
              gone : Big_int_Z.big_int list option }

type dstate =
| All of ent list list
| Alone of lone

type dtoken =
| Plainly of token
| Forms of Big_int_Z.big_int list * Big_int_Z.big_int list
   * Big_int_Z.big_int list list * Big_int_Z.big_int list list

type denv = { dproblem : problem; ddesign : design;
              dunit : Big_int_Z.big_int;
              dclaim : (Big_int_Z.big_int * Big_int_Z.big_int) }

(** val edge_of :
    ent list -> bool -> Big_int_Z.big_int list -> Big_int_Z.big_int option **)

let edge_of b upper0 q =
  let o = zeros q in
  if upper0
  then endsum o q b
  else (match endsum o
                (zscale (Big_int_Z.minus_big_int Big_int_Z.unit_big_int) q) b with
        | Some r -> Some (Big_int_Z.minus_big_int r)
        | None -> None)

(** val chords :
    Big_int_Z.big_int -> ent list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list list -> (Big_int_Z.big_int
    list * Big_int_Z.big_int) option **)

let rec chords t2 b w = function
| [] -> Some ((zeros w), Big_int_Z.zero_big_int)
| f :: fs0 ->
  (match edge_of b false f with
   | Some l ->
     (match edge_of b true f with
      | Some u ->
        (match chords t2 b w fs0 with
         | Some p0 ->
           let (q, c) = p0 in
           Some
           ((zplus
              (zscale (Big_int_Z.mult_big_int t2 (Big_int_Z.add_big_int l u))
                f) q),
           (Big_int_Z.sub_big_int c
             (Big_int_Z.mult_big_int t2 (Big_int_Z.mult_big_int l u))))
         | None -> None)
      | None -> None)
   | None -> None)

(** val quad_leaf :
    Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list -> ent list -> bool -> bool **)

let quad_leaf w fs q b upper0 =
  let t = zsum w in
  (match edge_of b upper0 w with
   | Some w0 ->
     (match edge_of b upper0 q with
      | Some s ->
        (match chords (Big_int_Z.mult_big_int t t) b w fs with
         | Some p0 ->
           let (r, c) = p0 in
           (match endsum (zeros w)
                    (zscale d
                      (zplus r
                        (zplus (zscale (Big_int_Z.minus_big_int w0) q)
                          (zscale (Big_int_Z.minus_big_int s) w)))) b with
            | Some r0 ->
              Big_int_Z.le_big_int
                (Big_int_Z.add_big_int
                  (Big_int_Z.mult_big_int
                    (Big_int_Z.add_big_int c (Big_int_Z.mult_big_int w0 s)) d)
                  r0) Big_int_Z.zero_big_int
            | None -> false)
         | None -> false)
      | None -> false)
   | None -> false)

(** val zdots :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int **)

let rec zdots a b =
  match a with
  | [] -> Big_int_Z.zero_big_int
  | c :: a0 ->
    (match b with
     | [] -> Big_int_Z.zero_big_int
     | f :: b0 -> Big_int_Z.add_big_int (zdot c f) (zdots a0 b0))

(** val corner_logs :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int option **)

let rec corner_logs s i = function
| [] -> Some Big_int_Z.zero_big_int
| f :: fs0 ->
  (match nthz i f with
   | Some n0 ->
     (match log false n0 s with
      | Some l ->
        (match corner_logs s (Big_int_Z.add_big_int i Big_int_Z.unit_big_int)
                 fs0 with
         | Some r -> Some (Big_int_Z.add_big_int l r)
         | None -> None)
      | None -> None)
   | None -> None)

(** val ends_by : Big_int_Z.big_int -> Big_int_Z.big_int list -> bool **)

let rec ends_by i = function
| [] -> true
| n0 :: f0 ->
  (&&)
    ((||) (Big_int_Z.le_big_int Big_int_Z.zero_big_int i)
      (Big_int_Z.eq_big_int n0 Big_int_Z.zero_big_int))
    (ends_by (Big_int_Z.sub_big_int i Big_int_Z.unit_big_int) f0)

(** val triangular :
    Big_int_Z.big_int -> Big_int_Z.big_int list list -> bool **)

let rec triangular i = function
| [] -> true
| f :: fs0 ->
  (&&) (ends_by i f)
    (triangular (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) fs0)

(** val risk_below :
    Big_int_Z.big_int list -> design -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int
    list list -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let risk_below w ds s s0 fs cs =
  let t = zsum w in
  let t2 = Big_int_Z.mult_big_int t t in
  (match ds with
   | Trace (den, qs) ->
     (match cs with
      | [] ->
        if Big_int_Z.eq_big_int (zlen fs) (zlen qs)
        then Some
               ((Big_int_Z.sub_big_int
                  (Big_int_Z.sub_big_int
                    (Big_int_Z.mult_big_int
                      (Big_int_Z.mult_big_int
                        (Big_int_Z.mult_big_int
                          (Big_int_Z.mult_big_int
                            (Big_int_Z.mult_int_big_int 2
                            Big_int_Z.unit_big_int) den) s) t2) (zdots qs fs))
                    (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int s s)
                      (zsum
                        (map (fun c ->
                          Big_int_Z.mult_big_int (zdot w c) (zdot w c)) qs))))
                  (Big_int_Z.mult_big_int
                    (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int den den)
                      t2) s0)),
               (Big_int_Z.mult_big_int
                 (Big_int_Z.mult_big_int
                   (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int den den) s)
                   s) t2))
        else None
      | _ :: _ -> None)
   | Eigenvalue ->
     if (&&)
          ((&&) (Big_int_Z.eq_big_int (zlen fs) (zlen cs))
            (forallb (fun c -> alike c w) cs))
          (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (zdots cs cs))
     then Some
            ((Big_int_Z.sub_big_int
               (Big_int_Z.sub_big_int
                 (Big_int_Z.mult_big_int
                   (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
                     Big_int_Z.unit_big_int) t2) (zdots cs fs))
                 (zsum
                   (map (fun c ->
                     Big_int_Z.mult_big_int (zdot w c) (zdot w c)) cs)))
               (Big_int_Z.mult_big_int t2 s0)),
            (Big_int_Z.mult_big_int t2 (zdots cs cs)))
     else None
   | Determinant ->
     (match cs with
      | [] ->
        (match corner_logs s Big_int_Z.zero_big_int fs with
         | Some l ->
           if (&&) (Big_int_Z.eq_big_int (zlen fs) (zlen w))
                (triangular Big_int_Z.zero_big_int fs)
           then Some
                  ((Big_int_Z.sub_big_int
                     (Big_int_Z.add_big_int
                       (Big_int_Z.mult_big_int
                         (Big_int_Z.mult_big_int
                           (Big_int_Z.mult_big_int (zlen w) d) s) s)
                       (Big_int_Z.mult_big_int
                         (Big_int_Z.mult_big_int
                           (Big_int_Z.mult_big_int
                             (Big_int_Z.mult_int_big_int 2
                             Big_int_Z.unit_big_int) s) s) l))
                     (Big_int_Z.mult_big_int d s0)),
                  (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int d s) s))
           else None
         | None -> None)
      | _ :: _ -> None))

(** val formed_states :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int trie -> Big_int_Z.big_int
    list list -> ent list list -> dstate list **)

let rec formed_states k y t a t0 fs = function
| [] -> []
| b :: bs0 ->
  let b0 = tight Big_int_Z.zero_big_int b in
  let l =
    formed_states k (Big_int_Z.add_big_int y Big_int_Z.unit_big_int) t a t0
      fs bs0
  in
  if shut b0
  then l
  else (Alone { due = (zscale t (merge (Big_int_Z.mult_big_int y k) t0 a));
         quads = fs; room = b0; gone = (Some []) }) :: l

(** val may_be_one :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> ent list -> bool **)

let rec may_be_one i l = function
| [] -> false
| e :: b0 ->
  (||)
    ((&&) (Big_int_Z.le_big_int e.low d)
      (negb (existsb (Big_int_Z.eq_big_int i) l)))
    (may_be_one (Big_int_Z.add_big_int i Big_int_Z.unit_big_int) l b0)

(** val dstep : denv -> dtoken -> dstate -> dstate list option **)

let dstep de tok st =
  let pb = de.dproblem in
  let w = pb.weights in
  (match st with
   | All bs ->
     (match tok with
      | Plainly t ->
        (match t with
         | Split (y, x, c) ->
           (match nthz y bs with
            | Some b ->
              (match pb.outputs with
               | Some _ ->
                 (match nthz x b with
                  | Some _ ->
                    if Big_int_Z.le_big_int Big_int_Z.zero_big_int c
                    then Some ((All
                           (updz y (updz x (cap0 c Big_int_Z.zero_big_int))
                             bs)) :: ((All
                           (updz y (updz x (lift_ c Big_int_Z.zero_big_int))
                             bs)) :: []))
                    else None
                  | None -> None)
               | None -> None)
            | None -> None)
         | _ -> None)
      | Forms (a, l, fs, cs) ->
        (match add_rows (zlen w) Big_int_Z.unit_big_int pb.rows l Tip
                 Big_int_Z.zero_big_int with
         | Some p0 ->
           let (t, b) = p0 in
           (match risk_below w de.ddesign de.dunit
                    (Big_int_Z.add_big_int (zsum a) b) fs cs with
            | Some p1 ->
              let (x, y) = p1 in
              if (&&) ((&&) (alike a w) (forallb (fun f -> alike f w) fs))
                   (Big_int_Z.le_big_int
                     (Big_int_Z.mult_big_int (Big_int_Z.minus_big_int x)
                       (snd de.dclaim))
                     (Big_int_Z.mult_big_int (fst de.dclaim) y))
              then Some
                     (formed_states (zlen w) Big_int_Z.zero_big_int (zsum w)
                       a t fs bs)
              else None
            | None -> None)
         | None -> None))
   | Alone p0 ->
     (match tok with
      | Plainly t ->
        (match t with
         | Split (y, x, c) ->
           (match nthz x p0.room with
            | Some _ ->
              if (&&) (Big_int_Z.eq_big_int y Big_int_Z.zero_big_int)
                   (Big_int_Z.le_big_int Big_int_Z.zero_big_int c)
              then Some ((Alone { due = p0.due; quads = p0.quads; room =
                     (updz x (cap0 c Big_int_Z.zero_big_int) p0.room); gone =
                     p0.gone }) :: ((Alone { due = p0.due; quads = p0.quads;
                     room =
                     (updz x (lift_ c Big_int_Z.zero_big_int) p0.room);
                     gone =
                     (match p0.gone with
                      | Some l ->
                        Some (if Big_int_Z.le_big_int d c then x :: l else l)
                      | None -> None) }) :: []))
              else None
            | None -> None)
         | Fix x ->
           (match nthz x p0.room with
            | Some e ->
              (match e.high with
               | Some p1 ->
                 let (h, q) = p1 in
                 if Big_int_Z.le_big_int d e.low
                 then let now = fun e0 -> Alone { due = p0.due; quads =
                        p0.quads; room = (updz x (fun _ -> e0) p0.room);
                        gone = None }
                      in
                      Some
                      ((now { low = h; plow = q; high = (Some (h, q)) }) :: (
                      (now { low = e.low; plow = e.plow; high = (Some (e.low,
                        e.plow)) }) :: []))
                 else None
               | None -> None)
            | None -> None)
         | Leaf (ts, m) ->
           (match ts with
            | [] ->
              let { flows = flows0; against = against0; along = along0 } = m
              in
              (match flows0 with
               | [] ->
                 (match against0 with
                  | [] ->
                    (match along0 with
                     | [] ->
                       if (||)
                            ((||)
                              (match p0.gone with
                               | Some l ->
                                 negb
                                   (may_be_one Big_int_Z.zero_big_int l
                                     p0.room)
                               | None -> false)
                              (quad_leaf w p0.quads p0.due p0.room true))
                            (quad_leaf w p0.quads p0.due p0.room false)
                       then Some []
                       else None
                     | _ :: _ -> None)
                  | _ :: _ -> None)
               | _ :: _ -> None)
            | _ :: _ -> None)
         | _ -> None)
      | Forms (_, _, _, _) -> None))

(** val des_advance : denv -> dtoken -> dstate list -> dstate list option **)

let des_advance de tok = function
| [] -> None
| st :: stack0 ->
  (match dstep de tok st with
   | Some l -> Some (app l stack0)
   | None -> None)

(** val design_ok : Big_int_Z.big_int list -> design -> bool **)

let design_ok w = function
| Trace (den, qs) ->
  (&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int den)
    (forallb (fun c -> alike c w) qs)
| _ -> true

(** val des_start :
    with_more -> design -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (denv * dstate list) option **)

let des_start mo ds cl s ratios =
  let pb = emptied mo.middle.inner.plain in
  let w = pb.weights in
  (match pb.base with
   | Complete r ->
     (match ratios with
      | [] -> None
      | p0 :: l ->
        let (g, h) = p0 in
        (match l with
         | [] ->
           if (&&)
                ((&&)
                  ((&&)
                    ((&&)
                      ((&&) ((&&) (well_formed pb) (design_ok w ds))
                        (Big_int_Z.lt_big_int Big_int_Z.zero_big_int s))
                      (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (snd cl)))
                    (at_least r g h)) (Big_int_Z.eq_big_int h d))
                (Big_int_Z.le_big_int d g)
           then Some ({ dproblem = pb; ddesign = ds; dunit = s; dclaim =
                  cl }, ((All
                  (numbers
                    (match pb.outputs with
                     | Some m -> m
                     | None -> Big_int_Z.unit_big_int) (fun _ ->
                    map (fun _ -> { low = d; plow = Big_int_Z.zero_big_int;
                      high = (Some (g, Big_int_Z.zero_big_int)) }) w))) :: []))
           else None
         | _ :: _ -> None))
   | _ -> None)

type blocks_header = { bunit : Big_int_Z.big_int;
                       bprices : Big_int_Z.big_int list;
                       bratio : (Big_int_Z.big_int * Big_int_Z.big_int) }

type choice = { sh : Big_int_Z.big_int; sx : Big_int_Z.big_int;
                some_l : bool; some_h : bool; wl : Big_int_Z.big_int;
                al : Big_int_Z.big_int; wh : Big_int_Z.big_int;
                ah : Big_int_Z.big_int; wx : Big_int_Z.big_int;
                ax : Big_int_Z.big_int }

(** val choices :
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list ->
    choice list **)

let rec choices = function
| [] ->
  { sh = Big_int_Z.zero_big_int; sx = Big_int_Z.zero_big_int; some_l = false;
    some_h = false; wl = Big_int_Z.zero_big_int; al = Big_int_Z.zero_big_int;
    wh = Big_int_Z.zero_big_int; ah = Big_int_Z.zero_big_int; wx =
    Big_int_Z.zero_big_int; ax = Big_int_Z.zero_big_int } :: []
| p0 :: its0 ->
  let (p1, a) = p0 in
  let (r, w) = p1 in
  flat_map (fun p2 -> { sh = p2.sh; sx = p2.sx; some_l = true; some_h =
    p2.some_h; wl = (Big_int_Z.add_big_int w p2.wl); al =
    (Big_int_Z.add_big_int a p2.al); wh = p2.wh; ah = p2.ah; wx = p2.wx; ax =
    p2.ax } :: ({ sh = (Big_int_Z.add_big_int r p2.sh); sx = p2.sx; some_l =
    p2.some_l; some_h = true; wl = p2.wl; al = p2.al; wh =
    (Big_int_Z.add_big_int w p2.wh); ah = (Big_int_Z.add_big_int a p2.ah);
    wx = p2.wx; ax =
    p2.ax } :: (if (&&) (Big_int_Z.eq_big_int p2.sx Big_int_Z.zero_big_int)
                     (Big_int_Z.lt_big_int Big_int_Z.zero_big_int r)
                then { sh = p2.sh; sx = r; some_l = p2.some_l; some_h =
                       p2.some_h; wl = p2.wl; al = p2.al; wh = p2.wh; ah =
                       p2.ah; wx = w; ax = a } :: []
                else []))) (choices its0)

type triple = (Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int

(** val height : Big_int_Z.big_int -> Big_int_Z.big_int -> triple option **)

let height n0 m =
  if Big_int_Z.eq_big_int n0 Big_int_Z.zero_big_int
  then Some ((Big_int_Z.zero_big_int, Big_int_Z.zero_big_int),
         Big_int_Z.zero_big_int)
  else let lo0 = Z.div (Big_int_Z.mult_big_int n0 d) m in
       let hi0 =
         Big_int_Z.minus_big_int
           (Z.div (Big_int_Z.minus_big_int (Big_int_Z.mult_big_int n0 d)) m)
       in
       (match log true hi0 d with
        | Some u ->
          Some ((lo0, hi0),
            (if Big_int_Z.le_big_int Big_int_Z.zero_big_int u
             then Big_int_Z.mult_big_int hi0 u
             else Big_int_Z.mult_big_int lo0 u))
        | None -> None)

(** val adds :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> triple ->
    triple **)

let adds e w a = function
| (p0, p1) ->
  let (lo0, hi0) = p0 in
  (((Big_int_Z.mult_big_int w lo0), (Big_int_Z.mult_big_int w hi0)),
  (Big_int_Z.sub_big_int
    (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int e w) p1)
    (Big_int_Z.mult_big_int
      (if Big_int_Z.le_big_int Big_int_Z.zero_big_int a
       then Big_int_Z.mult_big_int a lo0
       else Big_int_Z.mult_big_int a hi0) d)))

(** val both : triple -> triple -> triple **)

let both a b =
  let (p0, z0) = a in
  let (x, y) = p0 in
  let (p1, z') = b in
  let (x', y') = p1 in
  (((Big_int_Z.add_big_int x x'), (Big_int_Z.add_big_int y y')),
  (Big_int_Z.add_big_int z0 z'))

(** val put0 :
    Big_int_Z.big_int -> choice -> triple option -> triple option -> triple
    option -> triple list option -> triple list option **)

let put0 e p0 l h x acc =
  match l with
  | Some l0 ->
    (match h with
     | Some h0 ->
       (match x with
        | Some x0 ->
          (match acc with
           | Some acc0 ->
             Some
               ((both (adds e p0.wl p0.al l0)
                  (both (adds e p0.wh p0.ah h0) (adds e p0.wx p0.ax x0))) :: acc0)
           | None -> None)
        | None -> None)
     | None -> None)
  | None -> None

(** val corner_of :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> triple
    option -> choice -> triple list option -> triple list option **)

let corner_of e rest den a b c w p0 acc =
  let none = Some ((Big_int_Z.zero_big_int, Big_int_Z.zero_big_int),
    Big_int_Z.zero_big_int)
  in
  if Big_int_Z.lt_big_int Big_int_Z.zero_big_int rest
  then let over0 =
         Big_int_Z.sub_big_int (Big_int_Z.mult_big_int a rest)
           (Big_int_Z.mult_big_int (Big_int_Z.sub_big_int b a) p0.sh)
       in
       if Big_int_Z.eq_big_int p0.sx Big_int_Z.zero_big_int
       then let acc0 =
              if Big_int_Z.le_big_int over0 Big_int_Z.zero_big_int
              then put0 e p0 none
                     (height (Big_int_Z.mult_big_int b den)
                       (Big_int_Z.mult_big_int c
                         (Big_int_Z.add_big_int rest p0.sh))) none acc
              else acc
            in
            if Big_int_Z.le_big_int Big_int_Z.zero_big_int over0
            then put0 e p0 (height over0 (Big_int_Z.mult_big_int c rest))
                   (height
                     (Big_int_Z.add_big_int over0
                       (Big_int_Z.mult_big_int (Big_int_Z.sub_big_int b a)
                         den)) (Big_int_Z.mult_big_int c rest)) none acc0
            else acc0
       else if (&&)
                 ((&&) p0.some_l
                   (Big_int_Z.le_big_int Big_int_Z.zero_big_int over0))
                 (Big_int_Z.le_big_int over0
                   (Big_int_Z.mult_big_int (Big_int_Z.sub_big_int b a) p0.sx))
            then put0 e p0 none w
                   (height (Big_int_Z.mult_big_int over0 den)
                     (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int c rest)
                       p0.sx)) acc
            else acc
  else if (||) (Big_int_Z.eq_big_int p0.sx Big_int_Z.zero_big_int) p0.some_h
       then acc
       else put0 e p0 none none
              (height (Big_int_Z.mult_big_int a den)
                (Big_int_Z.mult_big_int c p0.sx))
              (put0 e p0 none none
                (height (Big_int_Z.mult_big_int b den)
                  (Big_int_Z.mult_big_int c p0.sx)) acc)

(** val corners :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> choice
    list -> triple list option **)

let corners e rest den a b c ps =
  fold_right
    (corner_of e rest den a b c
      (if Big_int_Z.lt_big_int Big_int_Z.zero_big_int rest
       then height (Big_int_Z.mult_big_int (Big_int_Z.sub_big_int b a) den)
              (Big_int_Z.mult_big_int c rest)
       else Some ((Big_int_Z.zero_big_int, Big_int_Z.zero_big_int),
              Big_int_Z.zero_big_int))) (Some []) ps

type bstate = { home : Big_int_Z.big_int;
                gaps : (Big_int_Z.big_int * Big_int_Z.big_int) list;
                least_w : Big_int_Z.big_int;
                most_w : Big_int_Z.big_int option;
                known : triple list list option }

type benv = { b_unit : Big_int_Z.big_int; b_total : Big_int_Z.big_int;
              b_ratio : (Big_int_Z.big_int * Big_int_Z.big_int);
              b_den : Big_int_Z.big_int;
              b_blocks : (Big_int_Z.big_int * choice list) list }

type btoken =
| Gap of Big_int_Z.big_int
| Mass of Big_int_Z.big_int
| Share of Big_int_Z.big_int * Big_int_Z.big_int
| Close of Big_int_Z.big_int * Big_int_Z.big_int option

(** val less :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) -> bool **)

let less a b =
  Big_int_Z.le_big_int (Big_int_Z.mult_big_int (fst a) (snd b))
    (Big_int_Z.mult_big_int (fst b) (snd a))

(** val first_of :
    ((Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) -> bool) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let rec first_of before = function
| [] -> None
| a :: l0 ->
  (match first_of before l0 with
   | Some b -> Some (if before a b then a else b)
   | None -> Some a)

(** val ends_of_gaps :
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option **)

let ends_of_gaps l =
  match first_of less l with
  | Some a ->
    (match first_of (fun a0 b -> less b a0) l with
     | Some b -> Some (a, b)
     | None -> None)
  | None -> None

(** val all_corners :
    benv -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) -> (Big_int_Z.big_int * choice
    list) list -> triple list list option **)

let rec all_corners en i j lo0 hi0 bs =
  let (g, h) = en.b_ratio in
  (match bs with
   | [] -> Some []
   | p0 :: bs0 ->
     let (rest, ps) = p0 in
     (match if Big_int_Z.eq_big_int i j
            then corners en.b_unit rest en.b_den
                   (Big_int_Z.mult_big_int h (snd hi0))
                   (Big_int_Z.mult_big_int g (fst hi0))
                   (Big_int_Z.mult_big_int h (snd hi0)) ps
            else corners en.b_unit rest en.b_den
                   (Big_int_Z.mult_big_int (fst lo0) h)
                   (Big_int_Z.mult_big_int g (snd lo0))
                   (Big_int_Z.mult_big_int (snd lo0) h) ps with
      | Some l ->
        (match all_corners en i
                 (Big_int_Z.add_big_int j Big_int_Z.unit_big_int) lo0 hi0 bs0 with
         | Some ls -> Some (l :: ls)
         | None -> None)
      | None -> None))

(** val corners_here : benv -> bstate -> triple list list option **)

let corners_here en st =
  match st.known with
  | Some ls -> Some ls
  | None ->
    (match ends_of_gaps st.gaps with
     | Some p0 ->
       let (lo0, hi0) = p0 in
       all_corners en st.home Big_int_Z.zero_big_int lo0 hi0 en.b_blocks
     | None -> None)

(** val one_gap : bstate -> bool **)

let one_gap st =
  match ends_of_gaps st.gaps with
  | Some p0 -> let (lo0, hi0) = p0 in less hi0 lo0
  | None -> false

(** val zmost0 : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec zmost0 = function
| [] -> Big_int_Z.zero_big_int
| a :: l0 ->
  (match l0 with
   | [] -> a
   | _ :: _ -> Big_int_Z.max_big_int a (zmost0 l0))

(** val zleast : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec zleast = function
| [] -> Big_int_Z.zero_big_int
| a :: l0 ->
  (match l0 with
   | [] -> a
   | _ :: _ -> Big_int_Z.min_big_int a (zleast l0))

(** val low_w : triple -> Big_int_Z.big_int **)

let low_w t =
  fst (fst t)

(** val high_w : triple -> Big_int_Z.big_int **)

let high_w t =
  snd (fst t)

(** val no_corner : triple list -> bool **)

let no_corner = function
| [] -> true
| _ :: _ -> false

(** val above_slope :
    Big_int_Z.big_int -> Big_int_Z.big_int -> triple -> Big_int_Z.big_int **)

let above_slope e l t =
  Big_int_Z.sub_big_int (snd t)
    (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int e l)
      (if Big_int_Z.le_big_int Big_int_Z.zero_big_int l
       then low_w t
       else high_w t))

(** val blocks_leaf :
    benv -> bstate -> triple list list -> Big_int_Z.big_int ->
    Big_int_Z.big_int option -> bool **)

let blocks_leaf en st ls t slope =
  let e = en.b_unit in
  let q0 =
    Big_int_Z.max_big_int st.least_w
      (zsum (map (fun l -> zleast (map low_w l)) ls))
  in
  let s = zsum (map (fun l -> zmost0 (map high_w l)) ls) in
  let q1 =
    match st.most_w with
    | Some m -> Big_int_Z.min_big_int m s
    | None -> s
  in
  (||) ((||) (existsb no_corner ls) (Big_int_Z.lt_big_int q1 q0))
    (match log false t d with
     | Some l ->
       let l0 =
         match slope with
         | Some l0 -> l0
         | None -> Big_int_Z.add_big_int d l
       in
       let rise = Big_int_Z.sub_big_int (Big_int_Z.sub_big_int l0 d) l in
       Big_int_Z.le_big_int
         (Big_int_Z.add_big_int
           (Big_int_Z.add_big_int
             (Big_int_Z.mult_big_int
               (Big_int_Z.mult_big_int (Big_int_Z.mult_big_int e en.b_total)
                 t) d)
             (Big_int_Z.mult_big_int e
               (Big_int_Z.max_big_int (Big_int_Z.mult_big_int q0 rise)
                 (Big_int_Z.mult_big_int q1 rise))))
           (zsum (map (fun l1 -> zmost0 (map (above_slope e l0) l1)) ls)))
         Big_int_Z.zero_big_int
     | None -> false)

(** val gap_most :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) -> bool **)

let gap_most c e =
  Big_int_Z.le_big_int (Big_int_Z.mult_big_int (fst e) d)
    (Big_int_Z.mult_big_int c (snd e))

(** val blocks_step : benv -> btoken -> bstate -> bstate list option **)

let blocks_step en tok st =
  match tok with
  | Gap c ->
    (match filter (gap_most c) st.gaps with
     | [] -> None
     | p0 :: l0 ->
       (match filter (fun e -> negb (gap_most c e)) st.gaps with
        | [] -> None
        | p1 :: l1 ->
          Some ({ home = st.home; gaps = (p0 :: l0); least_w = st.least_w;
            most_w = st.most_w; known = None } :: ({ home = st.home; gaps =
            (p1 :: l1); least_w = st.least_w; most_w = st.most_w; known =
            None } :: []))))
  | Mass c ->
    let c0 = Big_int_Z.mult_big_int c en.b_total in
    (match corners_here en st with
     | Some l ->
       let ls = Some l in
       Some ({ home = st.home; gaps = st.gaps; least_w = st.least_w; most_w =
       (Some
       (match st.most_w with
        | Some m -> Big_int_Z.min_big_int m c0
        | None -> c0)); known = ls } :: ({ home = st.home; gaps = st.gaps;
       least_w = (Big_int_Z.max_big_int c0 st.least_w); most_w = st.most_w;
       known = ls } :: []))
     | None -> None)
  | Share (s, c) ->
    let c0 = Big_int_Z.mult_big_int c en.b_total in
    if one_gap st
    then (match corners_here en st with
          | Some ls ->
            (match nthz s ls with
             | Some _ ->
               let cut = fun f -> { home = st.home; gaps = st.gaps; least_w =
                 st.least_w; most_w = st.most_w; known = (Some
                 (updz s (filter f) ls)) }
               in
               Some
               ((cut (fun t -> Big_int_Z.le_big_int (low_w t) c0)) :: (
               (cut (fun t -> Big_int_Z.lt_big_int c0 (high_w t))) :: []))
             | None -> None)
          | None -> None)
    else None
  | Close (t, slope) ->
    (match corners_here en st with
     | Some ls -> if blocks_leaf en st ls t slope then Some [] else None
     | None -> None)

(** val blocks_advance :
    benv -> btoken -> bstate list -> bstate list option **)

let blocks_advance en tok = function
| [] -> None
| st :: stack0 ->
  (match blocks_step en tok st with
   | Some l -> Some (app l stack0)
   | None -> None)

(** val turns_of :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool ->
    choice list -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let rec turns_of g h rest own0 = function
| [] -> []
| p0 :: ps0 ->
  if (&&) (Big_int_Z.eq_big_int p0.sx Big_int_Z.zero_big_int)
       (Big_int_Z.lt_big_int Big_int_Z.zero_big_int p0.sh)
  then (if own0
        then ((Big_int_Z.mult_big_int h (Big_int_Z.add_big_int rest p0.sh)),
               (Big_int_Z.mult_big_int g p0.sh))
        else ((Big_int_Z.mult_big_int g p0.sh),
               (Big_int_Z.mult_big_int h (Big_int_Z.add_big_int rest p0.sh)))) :: 
         (turns_of g h rest own0 ps0)
  else turns_of g h rest own0 ps0

(** val all_turns :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * choice list) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let rec all_turns g h i j = function
| [] -> []
| p0 :: bs0 ->
  let (rest, ps) = p0 in
  app (turns_of g h rest (Big_int_Z.eq_big_int i j) ps)
    (all_turns g h i (Big_int_Z.add_big_int j Big_int_Z.unit_big_int) bs0)

(** val all_gaps :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * choice list) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let all_gaps g h i bs =
  (Big_int_Z.unit_big_int, Big_int_Z.unit_big_int) :: ((g,
    h) :: (filter (fun e ->
            (&&) (Big_int_Z.le_big_int (snd e) (fst e))
              (Big_int_Z.le_big_int (Big_int_Z.mult_big_int (fst e) h)
                (Big_int_Z.mult_big_int g (snd e))))
            (all_turns g h i Big_int_Z.zero_big_int bs)))

(** val blocks_start :
    with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) -> blocks_header
    -> (benv * bstate list) option **)

let blocks_start co cl hd =
  let pb = co.inner.plain in
  let w = pb.weights in
  let t = zsum w in
  let e = hd.bunit in
  let (g, h) = hd.bratio in
  let a = zscale t hd.bprices in
  (match pb.objective with
   | Information groups0 ->
     (match groups0 with
      | [] -> None
      | g0 :: l ->
        (match l with
         | [] ->
           (match pb.base with
            | Robust (r, den, low0, sets) ->
              (match co.loss with
               | Some _ -> None
               | None ->
                 (match co.inner.bonus with
                  | [] ->
                    if (&&)
                         ((&&)
                           ((&&)
                             ((&&)
                               ((&&)
                                 ((&&)
                                   ((&&)
                                     ((&&)
                                       ((&&) (same g0 w) (well_formed pb))
                                       (Big_int_Z.lt_big_int
                                         Big_int_Z.zero_big_int e))
                                     (Big_int_Z.lt_big_int
                                       Big_int_Z.zero_big_int (snd cl)))
                                   (alike hd.bprices w))
                                 (pays cl e (zsum hd.bprices)))
                               (robust_ok (zlen w) den low0 sets))
                             (at_least r g h)) (Big_int_Z.le_big_int h g))
                         (forallb (fun b ->
                           Big_int_Z.le_big_int (zlen b)
                             (Big_int_Z.mult_int_big_int 2
                             (Big_int_Z.mult_int_big_int 2
                             ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
                             Big_int_Z.unit_big_int)))) sets)
                    then let bs =
                           map (fun b ->
                             let r0 = pick Big_int_Z.zero_big_int b low0 in
                             ((Big_int_Z.sub_big_int den (zsum r0)),
                             (choices
                               (combine
                                 (combine r0
                                   (pick Big_int_Z.zero_big_int b w))
                                 (pick Big_int_Z.zero_big_int b a))))) sets
                         in
                         Some ({ b_unit = e; b_total = t; b_ratio = (g, h);
                         b_den = den; b_blocks = bs },
                         (numbers (zlen sets) (fun i -> { home = i; gaps =
                           (all_gaps g h i bs); least_w =
                           Big_int_Z.zero_big_int; most_w = None; known =
                           None })))
                    else None
                  | _ :: _ -> None))
            | _ -> None)
         | _ :: _ -> None))
   | _ -> None)

type ray = { at_ : Big_int_Z.big_int list; zero : Big_int_Z.big_int }

(** val primitive : Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let primitive v =
  let g = fold_right Big_int_Z.gcd_big_int Big_int_Z.zero_big_int v in
  let u = map (fun n0 -> Z.div n0 g) v in
  if (&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int g)
       (same (zscale g u) v)
  then u
  else v

(** val joined : ray list -> ray -> ray -> bool **)

let joined rs p0 n0 =
  let b = Big_int_Z.and_big_int p0.zero n0.zero in
  negb
    (existsb (fun s ->
      (&&)
        ((&&)
          ((&&) (Big_int_Z.eq_big_int (Big_int_Z.and_big_int s.zero b) b)
            (negb (Big_int_Z.eq_big_int s.zero b)))
          (negb
            (Big_int_Z.eq_big_int (Big_int_Z.and_big_int s.zero p0.zero)
              p0.zero)))
        (negb
          (Big_int_Z.eq_big_int (Big_int_Z.and_big_int s.zero n0.zero)
            n0.zero))) rs)

(** val met : Big_int_Z.big_int -> ray -> Big_int_Z.big_int -> ray -> ray **)

let met s p0 t n0 =
  let g = Big_int_Z.gcd_big_int s t in
  if (&&)
       ((&&) (Big_int_Z.lt_big_int Big_int_Z.zero_big_int g)
         (Big_int_Z.eq_big_int (Big_int_Z.mult_big_int g (Z.div s g)) s))
       (Big_int_Z.eq_big_int (Big_int_Z.mult_big_int g (Z.div t g)) t)
  then let s0 = Z.div s g in
       let t0 = Z.div t g in
       { at_ =
       (primitive
         (zplus (zscale s0 n0.at_)
           (zscale (Big_int_Z.minus_big_int t0) p0.at_))); zero =
       (Big_int_Z.add_big_int
         (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
           Big_int_Z.unit_big_int) (Big_int_Z.and_big_int p0.zero n0.zero))
         Big_int_Z.unit_big_int) }
  else { at_ =
         (primitive
           (zplus (zscale s n0.at_)
             (zscale (Big_int_Z.minus_big_int t) p0.at_))); zero =
         (Big_int_Z.add_big_int
           (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
             Big_int_Z.unit_big_int) (Big_int_Z.and_big_int p0.zero n0.zero))
           Big_int_Z.unit_big_int) }

(** val cut_by : Big_int_Z.big_int list -> ray list -> ray list **)

let cut_by c rs =
  let vs = map (fun r -> ((zdot c r.at_), r)) rs in
  let up =
    filter (fun vr -> Big_int_Z.lt_big_int Big_int_Z.zero_big_int (fst vr)) vs
  in
  let down0 =
    filter (fun vr -> Big_int_Z.lt_big_int (fst vr) Big_int_Z.zero_big_int) vs
  in
  app
    (map (fun vr -> { at_ = (snd vr).at_; zero =
      (Big_int_Z.add_big_int
        (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int) (snd vr).zero)
        (if Big_int_Z.eq_big_int (fst vr) Big_int_Z.zero_big_int
         then Big_int_Z.unit_big_int
         else Big_int_Z.zero_big_int)) })
      (filter (fun vr ->
        Big_int_Z.le_big_int (fst vr) Big_int_Z.zero_big_int) vs))
    (flat_map (fun p0 ->
      flat_map (fun n0 ->
        if joined rs (snd p0) (snd n0)
        then (met (fst p0) (snd p0) (fst n0) (snd n0)) :: []
        else []) down0) up)

type rstate =
| Everywhere of ray list
| Each of ray list list
| Lonely of Big_int_Z.big_int list * ray list

type rtoken =
| Along of Big_int_Z.big_int
| Beside of Big_int_Z.big_int
| Plane of Big_int_Z.big_int * Big_int_Z.big_int list
| Pay of Big_int_Z.big_int list * Big_int_Z.big_int list
| Holds

type renv = { rproblem : problem; runit : Big_int_Z.big_int;
              rclaim : (Big_int_Z.big_int * Big_int_Z.big_int); redges : 
              table }

(** val alike_convex : problem -> convex **)

let alike_convex pb =
  { prior = pb.weights; aim = pb.objective }

(** val known_limit : renv -> rtoken -> Big_int_Z.big_int list option **)

let known_limit en = function
| Along e ->
  (match edge_at en.redges e with
   | Some e0 ->
     let (p0, h) = e0 in
     let (p1, g) = p0 in
     let (x, z0) = p1 in
     Some
     (unit_at (Big_int_Z.minus_big_int g) z0
       (unit_at h x (zeros en.rproblem.weights)))
   | None -> None)
| Beside i -> nthz i en.rproblem.halfspaces
| _ -> None

(** val each_cell : renv -> rstate -> ray list list option **)

let each_cell en = function
| Everywhere rs ->
  (match en.rproblem.outputs with
   | Some m -> Some (numbers m (fun _ -> rs))
   | None -> None)
| Each cells1 -> Some cells1
| Lonely (_, _) -> None

(** val ray_holds :
    convex -> Big_int_Z.big_int -> Big_int_Z.big_int list -> ray -> bool **)

let ray_holds u e own0 r =
  (&&) (nonnegative r.at_)
    (match above u r.at_ with
     | Some s ->
       Big_int_Z.le_big_int (Big_int_Z.mult_big_int e s)
         (Big_int_Z.mult_big_int (scale_of u Big_int_Z.unit_big_int)
           (zdot own0 r.at_))
     | None -> false)

(** val lonely_states :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int trie -> ray list list -> rstate list **)

let rec lonely_states k y a t = function
| [] -> []
| rs :: cells2 ->
  (Lonely ((merge (Big_int_Z.mult_big_int y k) t a),
    rs)) :: (lonely_states k (Big_int_Z.add_big_int y Big_int_Z.unit_big_int)
              a t cells2)

(** val paid :
    renv -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> ray list list
    -> rstate list option **)

let paid en a l cells1 =
  let pb = en.rproblem in
  let k = zlen pb.weights in
  (match add_rows k Big_int_Z.unit_big_int pb.rows l Tip
           Big_int_Z.zero_big_int with
   | Some p0 ->
     let (t, b) = p0 in
     if (&&) (alike a pb.weights)
          (pays en.rclaim en.runit (Big_int_Z.add_big_int (zsum a) b))
     then Some (lonely_states k Big_int_Z.zero_big_int a t cells1)
     else None
   | None -> None)

(** val rstep : renv -> rtoken -> rstate -> rstate list option **)

let rstep en tok st =
  let w = en.rproblem.weights in
  (match tok with
   | Plane (y, c) ->
     if negb (alike c w)
     then None
     else let no = zscale (Big_int_Z.minus_big_int Big_int_Z.unit_big_int) c
          in
          (match st with
           | Lonely (own0, rs) ->
             if Big_int_Z.eq_big_int y Big_int_Z.zero_big_int
             then Some ((Lonely (own0, (cut_by c rs))) :: ((Lonely (own0,
                    (cut_by no rs))) :: []))
             else None
           | _ ->
             (match each_cell en st with
              | Some cells1 ->
                (match nthz y cells1 with
                 | Some rs ->
                   Some ((Each
                     (updz y (fun _ -> cut_by c rs) cells1)) :: ((Each
                     (updz y (fun _ -> cut_by no rs) cells1)) :: []))
                 | None -> None)
              | None -> None))
   | Pay (a, l) ->
     (match each_cell en st with
      | Some cells1 -> paid en a l cells1
      | None ->
        (match st with
         | Everywhere rs -> paid en a l (rs :: [])
         | _ -> None))
   | Holds ->
     (match st with
      | Lonely (own0, rs) ->
        if forallb (ray_holds (alike_convex en.rproblem) en.runit own0) rs
        then Some []
        else None
      | _ -> None)
   | _ ->
     (match known_limit en tok with
      | Some c ->
        (match st with
         | Everywhere rs -> Some ((Everywhere (cut_by c rs)) :: [])
         | Each _ -> None
         | Lonely (own0, rs) -> Some ((Lonely (own0, (cut_by c rs))) :: []))
      | None -> None))

(** val ray_advance : renv -> rtoken -> rstate list -> rstate list option **)

let ray_advance en tok = function
| [] -> None
| st :: stack0 ->
  (match rstep en tok st with
   | Some l -> Some (app l stack0)
   | None -> None)

(** val mark :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec mark cs v =
  match cs with
  | [] -> Big_int_Z.zero_big_int
  | c :: cs0 ->
    Big_int_Z.add_big_int
      (Big_int_Z.mult_big_int (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int) (mark cs0 v))
      (if Big_int_Z.eq_big_int (zdot c v) Big_int_Z.zero_big_int
       then Big_int_Z.unit_big_int
       else Big_int_Z.zero_big_int)

(** val sides : Big_int_Z.big_int list -> Big_int_Z.big_int list list **)

let sides w =
  numbers (zlen w) (fun x ->
    unit_at (Big_int_Z.minus_big_int Big_int_Z.unit_big_int) x (zeros w))

(** val orthant : Big_int_Z.big_int list -> ray list **)

let orthant w =
  numbers (zlen w) (fun x ->
    let e = unit_at Big_int_Z.unit_big_int x (zeros w) in
    { at_ = e; zero = (mark (sides w) e) })

(** val ray_start :
    problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int
    -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> (renv * rstate list)
    option **)

let ray_start pb cl e ratios =
  let w = pb.weights in
  (match edges_of (zlen w) pb.base ratios with
   | Some es ->
     if (&&)
          ((&&)
            ((&&) (well_formed pb) (well_formed (alone (alike_convex pb))))
            (Big_int_Z.lt_big_int Big_int_Z.zero_big_int e))
          (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (snd cl))
     then Some ({ rproblem = pb; runit = e; rclaim = cl; redges = es },
            ((Everywhere (orthant w)) :: []))
     else None
   | None -> None)

type rdtoken =
| Cell of rtoken
| Formed of Big_int_Z.big_int list * Big_int_Z.big_int list
   * Big_int_Z.big_int list list * Big_int_Z.big_int list list

(** val cutting : rtoken -> bool **)

let cutting = function
| Pay (_, _) -> false
| Holds -> false
| _ -> true

(** val forms_paid :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list list -> ray -> bool **)

let forms_paid t2 w own0 fs r =
  (&&) (nonnegative r.at_)
    (Big_int_Z.le_big_int
      (Big_int_Z.mult_big_int t2
        (zsum
          (map (fun f ->
            Big_int_Z.mult_big_int (zdot f r.at_) (zdot f r.at_)) fs)))
      (Big_int_Z.mult_big_int (zdot own0 r.at_) (zdot w r.at_)))

(** val cells_paid :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int trie -> Big_int_Z.big_int
    list list -> ray list list -> bool **)

let rec cells_paid k y w a t fs = function
| [] -> true
| rs :: cells2 ->
  let t0 = zsum w in
  (&&)
    (forallb
      (forms_paid (Big_int_Z.mult_big_int t0 t0) w
        (zscale t0 (merge (Big_int_Z.mult_big_int y k) t a)) fs) rs)
    (cells_paid k (Big_int_Z.add_big_int y Big_int_Z.unit_big_int) w a t fs
      cells2)

(** val rd_step :
    renv -> design -> rdtoken -> rstate -> rstate list option **)

let rd_step en ds tok st =
  let pb = en.rproblem in
  let w = pb.weights in
  (match tok with
   | Cell t -> if cutting t then rstep en t st else None
   | Formed (a, l, fs, cs) ->
     (match each_cell en st with
      | Some cells1 ->
        (match add_rows (zlen w) Big_int_Z.unit_big_int pb.rows l Tip
                 Big_int_Z.zero_big_int with
         | Some p0 ->
           let (t, b) = p0 in
           (match risk_below w ds en.runit (Big_int_Z.add_big_int (zsum a) b)
                    fs cs with
            | Some p1 ->
              let (x, y) = p1 in
              if (&&)
                   ((&&) ((&&) (alike a w) (forallb (fun f -> alike f w) fs))
                     (Big_int_Z.le_big_int
                       (Big_int_Z.mult_big_int (Big_int_Z.minus_big_int x)
                         (snd en.rclaim))
                       (Big_int_Z.mult_big_int (fst en.rclaim) y)))
                   (cells_paid (zlen w) Big_int_Z.zero_big_int w a t fs
                     cells1)
              then Some []
              else None
            | None -> None)
         | None -> None)
      | None ->
        (match st with
         | Everywhere rs ->
           let cells1 = rs :: [] in
           (match add_rows (zlen w) Big_int_Z.unit_big_int pb.rows l Tip
                    Big_int_Z.zero_big_int with
            | Some p0 ->
              let (t, b) = p0 in
              (match risk_below w ds en.runit
                       (Big_int_Z.add_big_int (zsum a) b) fs cs with
               | Some p1 ->
                 let (x, y) = p1 in
                 if (&&)
                      ((&&)
                        ((&&) (alike a w) (forallb (fun f -> alike f w) fs))
                        (Big_int_Z.le_big_int
                          (Big_int_Z.mult_big_int (Big_int_Z.minus_big_int x)
                            (snd en.rclaim))
                          (Big_int_Z.mult_big_int (fst en.rclaim) y)))
                      (cells_paid (zlen w) Big_int_Z.zero_big_int w a t fs
                        cells1)
                 then Some []
                 else None
               | None -> None)
            | None -> None)
         | _ -> None)))

(** val rd_advance :
    renv -> design -> rdtoken -> rstate list -> rstate list option **)

let rd_advance en ds tok = function
| [] -> None
| st :: stack0 ->
  (match rd_step en ds tok st with
   | Some l -> Some (app l stack0)
   | None -> None)

(** val rd_start :
    with_more -> design -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (renv * rstate list) option **)

let rd_start mo ds cl s ratios =
  let pb = emptied mo.middle.inner.plain in
  let w = pb.weights in
  (match edges_of (zlen w) pb.base ratios with
   | Some es ->
     if (&&)
          ((&&)
            ((&&) ((&&) (well_formed pb) (design_ok w ds))
              (forallb (Big_int_Z.lt_big_int Big_int_Z.zero_big_int) w))
            (Big_int_Z.lt_big_int Big_int_Z.zero_big_int s))
          (Big_int_Z.lt_big_int Big_int_Z.zero_big_int (snd cl))
     then Some ({ rproblem = pb; runit = s; rclaim = cl; redges = es },
            ((Everywhere (orthant w)) :: []))
     else None
   | None -> None)
