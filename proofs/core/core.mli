
val negb : bool -> bool

type nat =
| O
| S of nat

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> nat

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val add : nat -> nat -> nat

module Pos :
 sig
  type mask =
  | IsNul
  | IsPos of Big_int_Z.big_int
  | IsNeg
 end

module Coq_Pos :
 sig
  val succ : Big_int_Z.big_int -> Big_int_Z.big_int

  val add : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val add_carry : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_N : Big_int_Z.big_int -> Big_int_Z.big_int

  type mask = Pos.mask =
  | IsNul
  | IsPos of Big_int_Z.big_int
  | IsNeg

  val succ_double_mask : mask -> mask

  val double_mask : mask -> mask

  val double_pred_mask : Big_int_Z.big_int -> mask

  val sub_mask : Big_int_Z.big_int -> Big_int_Z.big_int -> mask

  val sub_mask_carry : Big_int_Z.big_int -> Big_int_Z.big_int -> mask

  val sub : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val mul : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val iter : ('a1 -> 'a1) -> 'a1 -> Big_int_Z.big_int -> 'a1

  val div2 : Big_int_Z.big_int -> Big_int_Z.big_int

  val div2_up : Big_int_Z.big_int -> Big_int_Z.big_int

  val size_nat : Big_int_Z.big_int -> nat

  val size : Big_int_Z.big_int -> Big_int_Z.big_int

  val compare_cont :
    comparison -> Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

  val leb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

  val sqrtrem_step :
    (Big_int_Z.big_int -> Big_int_Z.big_int) -> (Big_int_Z.big_int ->
    Big_int_Z.big_int) -> (Big_int_Z.big_int * mask) ->
    Big_int_Z.big_int * mask

  val sqrtrem : Big_int_Z.big_int -> Big_int_Z.big_int * mask

  val sqrt : Big_int_Z.big_int -> Big_int_Z.big_int

  val gcdn :
    nat -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val gcd : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_Nsucc_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_Ndouble : Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_lor : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_land : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val ldiff : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val iter_op : ('a1 -> 'a1 -> 'a1) -> Big_int_Z.big_int -> 'a1 -> 'a1

  val to_nat : Big_int_Z.big_int -> nat
 end

module N :
 sig
  val succ_pos : Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_lor : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val ldiff : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
 end

module Z :
 sig
  val double : Big_int_Z.big_int -> Big_int_Z.big_int

  val succ_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pos_sub : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pow_pos : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pow : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val abs : Big_int_Z.big_int -> Big_int_Z.big_int

  val to_nat : Big_int_Z.big_int -> nat

  val of_N : Big_int_Z.big_int -> Big_int_Z.big_int

  val pos_div_eucl :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int

  val div_eucl :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int

  val div : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val modulo : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val div2 : Big_int_Z.big_int -> Big_int_Z.big_int

  val log2 : Big_int_Z.big_int -> Big_int_Z.big_int

  val sqrt : Big_int_Z.big_int -> Big_int_Z.big_int

  val shiftl : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val shiftr : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
 end

val nth : nat -> 'a1 list -> 'a1 -> 'a1

val concat : 'a1 list list -> 'a1 list

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val firstn : nat -> 'a1 list -> 'a1 list

val skipn : nat -> 'a1 list -> 'a1 list

val p : Big_int_Z.big_int

val d : Big_int_Z.big_int

val half : Big_int_Z.big_int -> Big_int_Z.big_int

val lo_loop :
  nat -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int

val hi_loop :
  nat -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int

val nterms : nat

val ln_red :
  bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val ln2_below : Big_int_Z.big_int

val ln2_above : Big_int_Z.big_int

val ln2 : bool -> Big_int_Z.big_int

val log_try :
  bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int option

val log :
  bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option

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

val zsum : Big_int_Z.big_int list -> Big_int_Z.big_int

val products :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

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

val pick : 'a1 -> Big_int_Z.big_int list -> 'a1 list -> 'a1 list

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

val nthz : Big_int_Z.big_int -> 'a1 list -> 'a1 option

val updz : Big_int_Z.big_int -> ('a1 -> 'a1) -> 'a1 list -> 'a1 list

val zlen : 'a1 list -> Big_int_Z.big_int

val alike : 'a1 list -> 'a2 list -> bool

type 'a trie =
| Tip
| Node of 'a trie * 'a option * 'a trie

val get : Big_int_Z.big_int -> 'a1 trie -> 'a1 option

val set : Big_int_Z.big_int -> 'a1 -> 'a1 trie -> 'a1 trie

val find : Big_int_Z.big_int -> 'a1 trie -> 'a1 option

val put : Big_int_Z.big_int -> 'a1 -> 'a1 trie -> 'a1 trie

val number : Big_int_Z.big_int -> 'a1 list -> 'a1 trie -> 'a1 trie

val amount : Big_int_Z.big_int -> Big_int_Z.big_int trie -> Big_int_Z.big_int

val bump :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int trie ->
  Big_int_Z.big_int trie

val merge :
  Big_int_Z.big_int -> Big_int_Z.big_int trie -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val zscale :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val zplus :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val zeros : 'a1 list -> Big_int_Z.big_int list

val ceil : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val at_least : ratio -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val at_most : ratio -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

type edge =
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) * Big_int_Z.big_int

type table =
| NoEdges
| Pairs of Big_int_Z.big_int * Big_int_Z.big_int * Big_int_Z.big_int
| Listed of edge trie

val edge_at : table -> Big_int_Z.big_int -> edge option

val join :
  (ratio -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool) ->
  Big_int_Z.big_int -> ((Big_int_Z.big_int * Big_int_Z.big_int) * ratio) list
  -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> edge list option

val edges_of :
  Big_int_Z.big_int -> cone -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  -> table option

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

val phi_up : kind -> Big_int_Z.big_int -> Big_int_Z.big_int option

type env = { knd : kind; unit_ : Big_int_Z.big_int;
             total_ : Big_int_Z.big_int; wts : Big_int_Z.big_int list;
             groups : Big_int_Z.big_int list list;
             corner : (Big_int_Z.big_int * Big_int_Z.big_int) option;
             edges : table; halfs : Big_int_Z.big_int list list;
             forms : Big_int_Z.big_int list list; couplings : row list;
             claim : (Big_int_Z.big_int * Big_int_Z.big_int); sheets : 
             bool }

val endsum :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> ent list ->
  Big_int_Z.big_int option

val add_flows :
  table -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int
  trie -> Big_int_Z.big_int trie option

val add_halfs :
  Big_int_Z.big_int list list -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  -> Big_int_Z.big_int list -> Big_int_Z.big_int list option

val add_forms :
  Big_int_Z.big_int list list -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int list * Big_int_Z.big_int

val upper :
  env -> col -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int -> mult -> Big_int_Z.big_int option

val not_above : Big_int_Z.big_int option -> bool

val tangents :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list -> Big_int_Z.big_int -> (Big_int_Z.big_int list * Big_int_Z.big_int)
  option

val burden :
  env -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  ((Big_int_Z.big_int list * Big_int_Z.big_int list) * Big_int_Z.big_int)
  option

val leaf :
  env -> Big_int_Z.big_int list -> col -> Big_int_Z.big_int list -> mult ->
  bool

val add_terms :
  Big_int_Z.big_int -> Big_int_Z.big_int -> terms -> Big_int_Z.big_int trie
  -> Big_int_Z.big_int trie

val add_rows :
  Big_int_Z.big_int -> Big_int_Z.big_int -> row list -> Big_int_Z.big_int
  list -> Big_int_Z.big_int trie -> Big_int_Z.big_int -> (Big_int_Z.big_int
  trie * Big_int_Z.big_int) option

val pays :
  (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> bool

val sheet :
  env -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int trie -> col list -> (Big_int_Z.big_int list * mult) list
  -> bool

val set_high :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> col -> col

val set_low :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> col -> col

val set_ent : Big_int_Z.big_int -> ent -> col -> col

val set_lims :
  Big_int_Z.big_int -> ((Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int) -> col -> col

val with_col : Big_int_Z.big_int -> (col -> col) -> state -> state

val ent_at : state -> Big_int_Z.big_int -> Big_int_Z.big_int -> ent option

val unit_at :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val step : env -> token -> state -> state list option

val advance : env -> token -> state list -> state list option

val run : env -> token list -> state list -> bool

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

val term_ok :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) -> bool

val count : problem -> Big_int_Z.big_int

val same : Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool

val nonnegative : Big_int_Z.big_int list -> bool

val well_formed : problem -> bool

val iota : Big_int_Z.big_int -> nat -> (Big_int_Z.big_int -> 'a1) -> 'a1 list

val numbers : Big_int_Z.big_int -> (Big_int_Z.big_int -> 'a1) -> 'a1 list

val roots :
  kind -> Big_int_Z.big_int -> Big_int_Z.big_int list -> ent list option

val tests : problem -> header -> Big_int_Z.big_int list list option

val entropy_prices :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> bool

val start :
  problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> header ->
  (env * state list) option

val verify :
  problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> header -> token list
  -> bool

val emptied : problem -> problem

val refute :
  problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> header -> token list
  -> bool

val kind_of : problem -> kind

val groups_of : problem -> Big_int_Z.big_int list list

val zdot :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int

val most : Big_int_Z.big_int list -> Big_int_Z.big_int

val least_of :
  Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int

val cells : Big_int_Z.big_int list list -> Big_int_Z.big_int trie

val zform :
  Big_int_Z.big_int -> Big_int_Z.big_int trie -> terms -> Big_int_Z.big_int

val edge_holds : Big_int_Z.big_int trie -> edge -> bool

val marks :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val robust_ok :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list list -> bool

val block_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int * Big_int_Z.big_int

val below_all :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool

val pairs_below :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool

val robust_holds :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list -> bool

val cone_holds :
  cone -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  -> Big_int_Z.big_int list list -> bool

val row_holds :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int trie -> row ->
  bool

val rows_hold :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  row list -> bool

val place :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list option

val gather :
  Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list

val gathered :
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int

val logs_below :
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int ->
  Big_int_Z.big_int option

val group_below :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int option

val sum_all :
  ('a1 -> Big_int_Z.big_int option) -> 'a1 list -> Big_int_Z.big_int option

val square_below :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int option

val best_gain :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  list -> Big_int_Z.big_int

val value_holds :
  problem -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list list -> bool

val attains :
  problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int list list
  -> bool

val slopes :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> (Big_int_Z.big_int
  list * Big_int_Z.big_int) option

val placed :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list -> terms

val tangent_terms :
  Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int list list
  -> (terms * Big_int_Z.big_int) option

val logs_low :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int option

val floor_ok : problem -> floor -> bool

val floor_row : problem -> Big_int_Z.big_int list list -> floor -> row option

val floor_rows :
  problem -> Big_int_Z.big_int list list -> floor list -> row list option

val bonus_ok : problem -> Big_int_Z.big_int list -> bool

val negated : terms -> terms

val bonus_cost :
  problem -> Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (utility * (Big_int_Z.big_int * Big_int_Z.big_int)) option

val relax :
  with_entropy -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int list list ->
  (problem * (Big_int_Z.big_int * Big_int_Z.big_int)) option

val bare : with_entropy -> with_entropy

val decide :
  with_entropy -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int list list -> header -> token list -> bool

val impossible :
  with_entropy -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int list list -> header -> token list -> bool

val spread :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  -> Big_int_Z.big_int option

val ones : Big_int_Z.big_int list -> Big_int_Z.big_int list

val floor_holds :
  problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> floor -> bool

val attains_all :
  with_entropy -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  Big_int_Z.big_int list list -> bool

val gradient :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list option

val groups_under :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list -> Big_int_Z.big_int list option

val mixed :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  list -> Big_int_Z.big_int list -> Big_int_Z.big_int list option

val alone : convex -> problem

val unit_of : convex -> Big_int_Z.big_int

val under : convex -> Big_int_Z.big_int list -> Big_int_Z.big_int list option

val under_terms :
  convex -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> terms option

val convex_ok : problem -> convex -> bool

val shown :
  problem -> convex -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  terms option

val times : Big_int_Z.big_int -> terms -> terms

val limit_rows :
  problem -> Big_int_Z.big_int ->
  (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
  Big_int_Z.big_int list list list -> row list option

val more :
  problem -> utility -> Big_int_Z.big_int option -> row list -> problem

val straight :
  with_convex -> Big_int_Z.big_int list list list -> with_entropy option

val accepts :
  with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int
  list list list -> Big_int_Z.big_int list list -> header -> token list ->
  bool

val excludes :
  with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int
  list list list -> Big_int_Z.big_int list list -> header -> token list ->
  bool

val relative_above :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int option

val square_above :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int option

val above : convex -> Big_int_Z.big_int list -> Big_int_Z.big_int option

val scale_of : convex -> Big_int_Z.big_int -> Big_int_Z.big_int

val at_most_there :
  problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> convex ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val realises :
  with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int
  -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int list
  list -> bool

val wider : utility -> utility

val wide : convex -> convex

val ratios_to :
  ratio -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list
  -> ((Big_int_Z.big_int * Big_int_Z.big_int) * ratio) list

val all_ratios :
  ratio -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list -> ((Big_int_Z.big_int * Big_int_Z.big_int) * ratio) list

val open_cone : Big_int_Z.big_int list -> cone -> cone

val inside : Big_int_Z.big_int -> cone -> bool

val no_loss : convex -> bool

val forms_under :
  convex -> Big_int_Z.big_int list list -> Big_int_Z.big_int list list option

val lifted :
  with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int list list) ->
  with_convex option

val lifted_all :
  with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int list list) list ->
  with_convex option

val lifted_few :
  with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int list list) list ->
  with_convex option

val confidence_ok : Big_int_Z.big_int list -> confidence -> bool

val variance_above :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int option

val spread_out :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list

val cut_row :
  Big_int_Z.big_int list -> confidence -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list option

val cut_rows :
  Big_int_Z.big_int list -> confidence -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list list option

val cuts_of :
  Big_int_Z.big_int list -> confidence -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list list option

val roots_below :
  bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int option

val pair_there :
  confidence -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool

val pairs_there :
  confidence -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list option

val column_there :
  confidence -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list list option

val columns_there :
  confidence -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list list -> bool

val confident_there :
  Big_int_Z.big_int list -> confidence -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list -> bool

val own_logs :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list option

val all_logs :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list option

val zmost :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val highest : Big_int_Z.big_int list list -> Big_int_Z.big_int list

val over_all : convex -> (Big_int_Z.big_int list * Big_int_Z.big_int) option

val add_parts :
  problem -> Big_int_Z.big_int ->
  (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
  Big_int_Z.big_int list list list -> Big_int_Z.big_int -> terms ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  ((Big_int_Z.big_int * terms) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option

val summed :
  with_convex -> (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
  Big_int_Z.big_int list list list -> (Big_int_Z.big_int * Big_int_Z.big_int)
  -> (with_convex * (Big_int_Z.big_int * Big_int_Z.big_int)) option

val parts_there :
  problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val limit_at :
  divergence -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val young_terms :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list -> terms
  option

val young_row :
  Big_int_Z.big_int -> divergence -> Big_int_Z.big_int list -> row option

val moments_sum :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  -> Big_int_Z.big_int option

val line_above :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val all2z :
  (Big_int_Z.big_int -> Big_int_Z.big_int -> bool) -> Big_int_Z.big_int list
  -> Big_int_Z.big_int list -> bool

val orders_there :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list ->
  Big_int_Z.big_int list list -> bool

val divergence_of :
  divergence -> Big_int_Z.big_int ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  list -> bool

val others_there :
  (Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  list -> bool) -> nat -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int list
  list -> Big_int_Z.big_int list list option

val rows_there :
  (Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  list -> bool) -> nat -> Big_int_Z.big_int list list -> Big_int_Z.big_int ->
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list list option

val in_threes :
  Big_int_Z.big_int list ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list option

val divergence_there :
  Big_int_Z.big_int -> Big_int_Z.big_int list list -> divergence ->
  (Big_int_Z.big_int list * Big_int_Z.big_int list list) -> bool

val each : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 list option

val each2 :
  ('a1 -> 'a2 -> 'a3 option) -> 'a1 list -> 'a2 list -> 'a3 list option

val a_prior : problem -> Big_int_Z.big_int list -> bool

val at_prior :
  problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int
  list -> (convex * (Big_int_Z.big_int * Big_int_Z.big_int)) option

val event_terms :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list -> terms
  option

val event_row :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list -> row
  option

val event_rows :
  problem -> (ratio * (Big_int_Z.big_int * Big_int_Z.big_int)) ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int list list) ->
  row list option

type hints = { priors : Big_int_Z.big_int list list;
               around : Big_int_Z.big_int list list list;
               reaches : ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int
                         list list) list;
               lifts : (Big_int_Z.big_int * Big_int_Z.big_int list list) list;
               cuts : (((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) * Big_int_Z.big_int
                      list list) option;
               sums : Big_int_Z.big_int list list list;
               tangents_of : Big_int_Z.big_int list list list }

val around_rows :
  with_entropy -> Big_int_Z.big_int list list -> row list option

val cuts_at :
  problem -> confidence option ->
  (((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) * Big_int_Z.big_int
  list list) option -> Big_int_Z.big_int list list option

val young_rows :
  problem -> divergence -> Big_int_Z.big_int list list -> row list option

val widen :
  with_entropy -> Big_int_Z.big_int list list -> row list -> with_entropy

val replaced : with_more -> hints -> with_convex option

val reduce :
  with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
  (with_convex * (Big_int_Z.big_int * Big_int_Z.big_int)) option

val surprises :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list option

val all_surprises :
  Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list option

val capacity_there :
  problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) -> bool

val attach :
  Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list list

val over :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int

val excess_there :
  problem -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (ratio * (Big_int_Z.big_int * Big_int_Z.big_int)) -> bool

val all2 : ('a1 -> 'a2 -> bool) -> 'a1 list -> 'a2 list -> bool

val silent : with_convex -> with_convex

val displays :
  with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int
  -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int list
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) * Big_int_Z.big_int
  list list) option -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int list * Big_int_Z.big_int list list) list ->
  Big_int_Z.big_int list list -> bool

val proves :
  with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
  Big_int_Z.big_int list list list -> Big_int_Z.big_int list list -> header
  -> token list -> bool

val denies :
  with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
  Big_int_Z.big_int list list list -> Big_int_Z.big_int list list -> header
  -> token list -> bool

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

val is_long :
  (Big_int_Z.big_int * Big_int_Z.big_int) -> ratio -> Big_int_Z.big_int ->
  bool

val lab_edges :
  (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * ratio) list -> Big_int_Z.big_int
  list -> ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list
  option

val reach :
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) trie ->
  Big_int_Z.big_int list -> Big_int_Z.big_int trie -> Big_int_Z.big_int trie
  option

val collect :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int trie ->
  Big_int_Z.big_int list option

val all_away :
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) trie ->
  Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int list list
  -> Big_int_Z.big_int list list option

val powers_ok :
  (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool

val cap :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val lift :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list

val close_least :
  Big_int_Z.big_int list list -> Big_int_Z.big_int -> Big_int_Z.big_int list
  -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val lab_roots :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list -> Big_int_Z.big_int list -> limits_of list option

val drop : Big_int_Z.big_int -> 'a1 list -> 'a1 list

val cells0 :
  (Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int) -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> Big_int_Z.big_int list

val table_cell :
  lenv -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int

val tables :
  lenv -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list

val raised :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list

val add_at :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list

val dist :
  Big_int_Z.big_int list list -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int option

val flow_on :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list option

val known_at :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
  bool

val flows_on :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list option

val pick0 :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list

val maxz : Big_int_Z.big_int list -> Big_int_Z.big_int

val summed0 :
  (Big_int_Z.big_int -> Big_int_Z.big_int) -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list

val links_on :
  Big_int_Z.big_int list list -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  -> (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list option

val largest :
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int

val crossed : Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool

val lab_leaf :
  lenv -> Big_int_Z.big_int -> Big_int_Z.big_int list list -> limits_of ->
  bool

val lab_step : lenv -> ltoken -> limits_of -> limits_of list option

val lab_advance : lenv -> ltoken -> limits_of list -> limits_of list option

val lab_start :
  with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) -> labels ->
  (lenv * limits_of list) option

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

val cap0 : Big_int_Z.big_int -> Big_int_Z.big_int -> ent -> ent

val lift_ : Big_int_Z.big_int -> Big_int_Z.big_int -> ent -> ent

val ones_left : ent list -> Big_int_Z.big_int

val tight : Big_int_Z.big_int -> ent list -> ent list

val crossed0 : ent -> bool

val shut : ent list -> bool

val same_ent : ent -> ent -> bool

val same_box : ent list -> ent list -> bool

val inside0 : ent list -> (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool

val outside :
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool

val settled : single -> Big_int_Z.big_int list

val square_leaf :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> ent list -> bool -> bool

val single_leaf : env -> single -> Big_int_Z.big_int list -> mult -> bool

val prices_of :
  Big_int_Z.big_int list list option -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list list option

type duty = { down : Big_int_Z.big_int list; where_ : ent list;
              whose : Big_int_Z.big_int list; even : Big_int_Z.big_int list }

val sums_of :
  Big_int_Z.big_int -> Big_int_Z.big_int list ->
  (((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int) * bool)
  list -> Big_int_Z.big_int option

val extras_of :
  Big_int_Z.big_int -> Big_int_Z.big_int list ->
  (((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int) * bool)
  list -> ((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int)
  list

val duties :
  mat -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int
  trie -> ent list list -> Big_int_Z.big_int list list -> duty list

val same_duty : duty -> duty -> bool

val whole_tree :
  mat -> ((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int)
  list -> duty -> mstate list option

val child :
  mat -> ((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int)
  list -> duty list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> mstate list option

val children :
  mat -> ((Big_int_Z.big_int * Big_int_Z.big_int) list * Big_int_Z.big_int)
  list -> duty list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> mstate list option

val priced :
  mat -> whole -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> mstate list option

val mstep : mat -> mtoken -> mstate -> mstate list option

val mat_advance : mat -> mtoken -> mstate list -> mstate list option

val aimed :
  with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
  (((problem * (Big_int_Z.big_int * Big_int_Z.big_int)) * (Big_int_Z.big_int * terms)) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option

val split_at :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list * Big_int_Z.big_int list

val at_most_common :
  problem -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list
  -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  bool

val measured :
  problem -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list option

val mat_start :
  with_more -> (Big_int_Z.big_int * Big_int_Z.big_int) -> hints ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  Big_int_Z.big_int -> Big_int_Z.big_int list list -> (mat * mstate list)
  option

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

val edge_of :
  ent list -> bool -> Big_int_Z.big_int list -> Big_int_Z.big_int option

val chords :
  Big_int_Z.big_int -> ent list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list list -> (Big_int_Z.big_int list * Big_int_Z.big_int)
  option

val quad_leaf :
  Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list -> ent list -> bool -> bool

val zdots :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int

val corner_logs :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int option

val ends_by : Big_int_Z.big_int -> Big_int_Z.big_int list -> bool

val triangular : Big_int_Z.big_int -> Big_int_Z.big_int list list -> bool

val risk_below :
  Big_int_Z.big_int list -> design -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val formed_states :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int trie -> Big_int_Z.big_int list
  list -> ent list list -> dstate list

val may_be_one :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> ent list -> bool

val dstep : denv -> dtoken -> dstate -> dstate list option

val des_advance : denv -> dtoken -> dstate list -> dstate list option

val design_ok : Big_int_Z.big_int list -> design -> bool

val des_start :
  with_more -> design -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (denv * dstate list) option

type blocks_header = { bunit : Big_int_Z.big_int;
                       bprices : Big_int_Z.big_int list;
                       bratio : (Big_int_Z.big_int * Big_int_Z.big_int) }

type choice = { sh : Big_int_Z.big_int; sx : Big_int_Z.big_int;
                some_l : bool; some_h : bool; wl : Big_int_Z.big_int;
                al : Big_int_Z.big_int; wh : Big_int_Z.big_int;
                ah : Big_int_Z.big_int; wx : Big_int_Z.big_int;
                ax : Big_int_Z.big_int }

val choices :
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) list ->
  choice list

type triple = (Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int

val height : Big_int_Z.big_int -> Big_int_Z.big_int -> triple option

val adds :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> triple ->
  triple

val both : triple -> triple -> triple

val put0 :
  Big_int_Z.big_int -> choice -> triple option -> triple option -> triple
  option -> triple list option -> triple list option

val corner_of :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> triple
  option -> choice -> triple list option -> triple list option

val corners :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> choice list
  -> triple list option

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

val less :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) -> bool

val first_of :
  ((Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) -> bool) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val ends_of_gaps :
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option

val all_corners :
  benv -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) -> (Big_int_Z.big_int * choice
  list) list -> triple list list option

val corners_here : benv -> bstate -> triple list list option

val one_gap : bstate -> bool

val zmost0 : Big_int_Z.big_int list -> Big_int_Z.big_int

val zleast : Big_int_Z.big_int list -> Big_int_Z.big_int

val low_w : triple -> Big_int_Z.big_int

val high_w : triple -> Big_int_Z.big_int

val no_corner : triple list -> bool

val above_slope :
  Big_int_Z.big_int -> Big_int_Z.big_int -> triple -> Big_int_Z.big_int

val blocks_leaf :
  benv -> bstate -> triple list list -> Big_int_Z.big_int ->
  Big_int_Z.big_int option -> bool

val gap_most :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) -> bool

val blocks_step : benv -> btoken -> bstate -> bstate list option

val blocks_advance : benv -> btoken -> bstate list -> bstate list option

val turns_of :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool ->
  choice list -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val all_turns :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * choice list) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list

val all_gaps :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * choice list) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list

val blocks_start :
  with_convex -> (Big_int_Z.big_int * Big_int_Z.big_int) -> blocks_header ->
  (benv * bstate list) option

type ray = { at_ : Big_int_Z.big_int list; zero : Big_int_Z.big_int }

val primitive : Big_int_Z.big_int list -> Big_int_Z.big_int list

val joined : ray list -> ray -> ray -> bool

val met : Big_int_Z.big_int -> ray -> Big_int_Z.big_int -> ray -> ray

val cut_by : Big_int_Z.big_int list -> ray list -> ray list

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

val alike_convex : problem -> convex

val known_limit : renv -> rtoken -> Big_int_Z.big_int list option

val each_cell : renv -> rstate -> ray list list option

val ray_holds :
  convex -> Big_int_Z.big_int -> Big_int_Z.big_int list -> ray -> bool

val lonely_states :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int trie -> ray list list -> rstate list

val paid :
  renv -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> ray list list
  -> rstate list option

val rstep : renv -> rtoken -> rstate -> rstate list option

val ray_advance : renv -> rtoken -> rstate list -> rstate list option

val mark :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list -> Big_int_Z.big_int

val sides : Big_int_Z.big_int list -> Big_int_Z.big_int list list

val orthant : Big_int_Z.big_int list -> ray list

val ray_start :
  problem -> (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> (renv * rstate list) option

type rdtoken =
| Cell of rtoken
| Formed of Big_int_Z.big_int list * Big_int_Z.big_int list
   * Big_int_Z.big_int list list * Big_int_Z.big_int list list

val cutting : rtoken -> bool

val forms_paid :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list list -> ray -> bool

val cells_paid :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int trie -> Big_int_Z.big_int list
  list -> ray list list -> bool

val rd_step : renv -> design -> rdtoken -> rstate -> rstate list option

val rd_advance :
  renv -> design -> rdtoken -> rstate list -> rstate list option

val rd_start :
  with_more -> design -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (renv * rstate list) option
