(* Robust cones: what one block of inputs may give a column, and its corners. A column of a block gives way to one that is at the limits but for
   one entry, and that entry moves until a limit or another entry is met; so no linear form is larger than at a corner. Between turns the corners of
   all blocks move along lines with b, the second smallest of the lower ends. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem.
Import ListNotations.
Open Scope R_scope.

(* ---- one block: the columns that keep limits, and their corners ---- *)
(* Of each input of a block one of three entries: l, h, or x. *)
Inductive spot := SL | SH | SX.
Definition lay (l h x : R) (pat : list spot) : list R := map (fun s => match s with SL => l | SH => h | SX => x end) pat.
Definition hit (m s : spot) : R := match m, s with SL, SL | SH, SH | SX, SX => 1 | _, _ => 0 end.
Fixpoint over (m : spot) (pat : list spot) (c : list R) : R := match pat, c with s :: pat, a :: c => hit m s * a + over m pat c | _, _ => 0 end.
Definition plain_spots (pat : list spot) := Forall (fun s => s <> SX) pat.
(* At most one x, at an input with a lower share. *)
Fixpoint lone (pat : list spot) (r : list R) : Prop := match pat, r with [], [] => True
  | SX :: pat, a :: r => 0 < a /\ plain_spots pat /\ length pat = length r | _ :: pat, _ :: r => lone pat r | _, _ => False end.
Definition swap (s : spot) (pat : list spot) := map (fun u => match u with SX => s | u => u end) pat.

Lemma len_lay l h x pat : length (lay l h x pat) = length pat. Proof. apply map_length. Qed.
Lemma lone_len : forall pat r, lone pat r -> length pat = length r.
Proof. induction pat as [|s pat IH]; intros [|a r] H; [reflexivity|destruct H|destruct s; destruct H|]. cbn [length]. f_equal. destruct s; cbn [lone] in H; [apply IH; exact H|apply IH; exact H|apply H]. Qed.
Lemma lay_sum l h x : forall pat c, weighed_sum c (lay l h x pat) = l * over SL pat c + h * over SH pat c + x * over SX pat c.
Proof. induction pat as [|s pat IH]; intros [|a c]; simpl; try lra. fold (lay l h x pat). rewrite IH. destruct s; simpl; lra. Qed.
Lemma over_all : forall pat c, length pat = length c -> over SL pat c + over SH pat c + over SX pat c = sum c.
Proof. induction pat as [|s pat IH]; intros [|a c] L; simpl in *; try discriminate; try lra. specialize (IH c ltac:(lia)). destruct s; simpl; lra. Qed.
Lemma over_pos m : forall pat r, Forall (Rle 0) r -> 0 <= over m pat r.
Proof. induction pat as [|s pat IH]; intros [|a r] H; simpl; try lra. inversion H; subst. specialize (IH r H3). destruct m, s; simpl; lra. Qed.
Lemma plain_over c : forall pat, plain_spots pat -> over SX pat c = 0.
Proof. intros pat H. revert c. induction H as [|s pat Hs H IH]; intros [|a c]; simpl; try lra. rewrite IH. destruct s; simpl; try lra. congruence. Qed.
Lemma lone_cases : forall pat r, lone pat r -> Forall (Rle 0) r -> plain_spots pat \/ 0 < over SX pat r.
Proof.
  induction pat as [|s pat IH]; intros [|a r] H P; [left; constructor|destruct H|destruct s; destruct H|]. inversion P; subst. destruct s; cbn [lone] in H.
  - destruct (IH r H H3) as [K|K]; [left; constructor; auto; discriminate|right; simpl; lra].
  - destruct (IH r H H3) as [K|K]; [left; constructor; auto; discriminate|right; simpl; lra].
  - right. simpl. rewrite plain_over by tauto. lra.
Qed.
Lemma swap_plain s pat : s <> SX -> plain_spots (swap s pat).
Proof. intros H. apply Forall_map, Forall_forall. intros u _. destruct u; congruence. Qed.
Lemma lone_plain : forall pat r, plain_spots pat -> length pat = length r -> lone pat r.
Proof. intros pat r H. revert r. induction H as [|s pat Hs H IH]; intros [|a r] L; simpl in *; try discriminate; auto. destruct s; auto. congruence. Qed.
Lemma swap_len s pat : length (swap s pat) = length pat. Proof. apply map_length. Qed.
Lemma lay_low l h x pat : lay l h x (swap SL pat) = lay l h l pat. Proof. unfold lay, swap. rewrite map_map. apply map_ext. intros []; auto. Qed.
Lemma lay_high l h x pat : lay l h x (swap SH pat) = lay l h h pat. Proof. unfold lay, swap. rewrite map_map. apply map_ext. intros []; auto. Qed.
Lemma over_low r : forall pat, over SH (swap SL pat) r = over SH pat r.
Proof. intros pat. revert r. induction pat as [|s pat IH]; intros [|a r]; simpl; auto. fold (swap SL pat). rewrite IH. destruct s; simpl; lra. Qed.
Lemma over_high r : forall pat, over SH (swap SH pat) r = over SH pat r + over SX pat r.
Proof. intros pat. revert r. induction pat as [|s pat IH]; intros [|a r]; simpl; try lra. fold (swap SH pat). rewrite IH. destruct s; simpl; lra. Qed.

(* Of two entries with shares the sum is kept, until one of them is at an end. *)
Lemma exchange r0 r1 c0 c1 m M a x : 0 < r0 -> 0 < r1 -> m <= a <= M -> m <= x <= M ->
  exists a' x', m <= a' <= M /\ m <= x' <= M /\ r0 * a' + r1 * x' = r0 * a + r1 * x /\ c0 * a + c1 * x <= c0 * a' + c1 * x' /\ (a' = m \/ a' = M \/ x' = m \/ x' = M).
Proof.
  intros H0 H1 Ha Hx.
  assert (K : forall t, 0 <= t * (c0 * r1 - c1 * r0) -> m <= a + t * r1 <= M -> m <= x - t * r0 <= M -> (a + t * r1 = m \/ a + t * r1 = M \/ x - t * r0 = m \/ x - t * r0 = M) ->
    exists a' x', m <= a' <= M /\ m <= x' <= M /\ r0 * a' + r1 * x' = r0 * a + r1 * x /\ c0 * a + c1 * x <= c0 * a' + c1 * x' /\ (a' = m \/ a' = M \/ x' = m \/ x' = M)).
  { intros t T A X E. exists (a + t * r1), (x - t * r0). repeat split; try tauto; lra. }
  assert (U : forall u v, 0 <= u -> 0 < v -> 0 <= u / v) by (intros u v P Q; apply Rmult_le_pos; auto; apply Rlt_le, Rinv_0_lt_compat; auto).
  assert (S : forall u v, 0 < v -> u / v * v = u) by (intros; field; lra).
  destruct (Rle_dec 0 (c0 * r1 - c1 * r0)) as [D0|D0].
  - pose proof (U (M - a) r1 ltac:(lra) H1) as P. pose proof (U (x - m) r0 ltac:(lra) H0) as Q. pose proof (S (M - a) r1 H1) as P'. pose proof (S (x - m) r0 H0) as Q'.
    destruct (Rle_dec ((M - a) / r1) ((x - m) / r0)) as [C|C].
    + apply (K ((M - a) / r1)). now apply Rmult_le_pos. rewrite P'. lra. apply Rmult_le_compat_r with (r := r0) in C; [|lra]. rewrite Q' in C. assert (0 <= (M - a) / r1 * r0) by (apply Rmult_le_pos; lra). lra. rewrite P'. lra.
    + assert (C' : (x - m) / r0 <= (M - a) / r1) by lra. apply (K ((x - m) / r0)). now apply Rmult_le_pos. apply Rmult_le_compat_r with (r := r1) in C'; [|lra]. rewrite P' in C'. assert (0 <= (x - m) / r0 * r1) by (apply Rmult_le_pos; lra). lra. rewrite Q'. lra. rewrite Q'. lra.
  - pose proof (U (a - m) r1 ltac:(lra) H1) as P. pose proof (U (M - x) r0 ltac:(lra) H0) as Q. pose proof (S (a - m) r1 H1) as P'. pose proof (S (M - x) r0 H0) as Q'.
    assert (Neg : forall t, 0 <= t -> 0 <= - t * (c0 * r1 - c1 * r0)) by (intros t T; replace (- t * (c0 * r1 - c1 * r0)) with (t * (c1 * r0 - c0 * r1)) by ring; apply Rmult_le_pos; lra).
    destruct (Rle_dec ((a - m) / r1) ((M - x) / r0)) as [C|C].
    + apply (K (- ((a - m) / r1))); rewrite <- ?Ropp_mult_distr_l, ?P'. now rewrite Ropp_mult_distr_l; apply Neg. lra. apply Rmult_le_compat_r with (r := r0) in C; [|lra]. rewrite Q' in C. assert (0 <= (a - m) / r1 * r0) by (apply Rmult_le_pos; lra). lra. lra.
    + assert (C' : (M - x) / r0 <= (a - m) / r1) by lra. apply (K (- ((M - x) / r0))); rewrite <- ?Ropp_mult_distr_l, ?Q'. now rewrite Ropp_mult_distr_l; apply Neg. apply Rmult_le_compat_r with (r := r1) in C'; [|lra]. rewrite P' in C'. assert (0 <= (M - x) / r0 * r1) by (apply Rmult_le_pos; lra). lra. lra. lra.
Qed.
(* A column between limits gives way to one that is at the limits but for one entry, of the same sum of shares. *)
Lemma nearly m M : m <= M -> forall r c y, length c = length r -> length y = length r -> Forall (Rle 0) r -> Forall (fun a => m <= a <= M) y ->
  exists pat x, lone pat r /\ m <= x <= M /\ weighed_sum r (lay m M x pat) = weighed_sum r y /\ weighed_sum c y <= weighed_sum c (lay m M x pat).
Proof.
  intros HM. induction r as [|r0 r IH]; intros [|c0 c] [|y0 y] Lc Ly Hr Hy; simpl in Lc, Ly; try discriminate. { exists [], m. simpl. repeat split; lra. }
  inversion Hr as [|? ? R0 Hr']; inversion Hy as [|? ? Y0 Hy']; subst. destruct (IH c y ltac:(lia) ltac:(lia) Hr' Hy') as (pat & x & L & X & E & B). pose proof (lone_len _ _ L) as Lp.
  destruct R0 as [R0|<-].
  - destruct (lone_cases _ _ L Hr') as [P|P].
    + exists (SX :: pat), y0. pose proof (lay_sum m M x pat) as A1. pose proof (lay_sum m M y0 pat) as A2. pose proof (plain_over r pat P) as Z1. pose proof (plain_over c pat P) as Z2.
      cbn [lay map weighed_sum lone]. fold (lay m M y0 pat). rewrite A2, A1 in *. rewrite A2, Z1, Z2 in *. repeat split; auto; lra.
    + destruct (exchange r0 (over SX pat r) c0 (over SX pat c) m M y0 x R0 P Y0 X) as (a' & x' & A & X' & E' & B' & W). pose proof (lay_sum m M x pat) as A1.
      assert (T : forall x', weighed_sum r (lay m M x' pat) = weighed_sum r y + (x' - x) * over SX pat r /\ weighed_sum c y + (x' - x) * over SX pat c <= weighed_sum c (lay m M x' pat)).
      { intros u. rewrite lay_sum in E, B. rewrite !lay_sum. split; lra. } destruct W as [W|[W|[W|W]]].
      * exists (SL :: pat), x'. destruct (T x') as [T1 T2]. cbn [lay map weighed_sum lone]. fold (lay m M x' pat). rewrite T1. subst a'. repeat split; auto; lra.
      * exists (SH :: pat), x'. destruct (T x') as [T1 T2]. cbn [lay map weighed_sum lone]. fold (lay m M x' pat). rewrite T1. subst a'. repeat split; auto; lra.
      * exists (SX :: swap SL pat), a'. destruct (T x') as [T1 T2]. cbn [lay map weighed_sum lone]. fold (lay m M a' (swap SL pat)). rewrite lay_low. subst x'. rewrite T1, swap_len. repeat split; auto; try lra. apply swap_plain. discriminate.
      * exists (SX :: swap SH pat), a'. destruct (T x') as [T1 T2]. cbn [lay map weighed_sum lone]. fold (lay m M a' (swap SH pat)). rewrite lay_high. subst x'. rewrite T1, swap_len. repeat split; auto; try lra. apply swap_plain. discriminate.
  - destruct (Rle_dec 0 c0) as [C|C].
    + exists (SH :: pat), x. cbn [lay map weighed_sum lone]. fold (lay m M x pat). repeat split; auto; try lra. nra.
    + exists (SL :: pat), x. cbn [lay map weighed_sum lone]. fold (lay m M x pat). repeat split; auto; try lra. nra.
Qed.

(* ---- corners ---- *)
(* Two: entries l and h with both limits tight. Top: h and 0, the upper limit tight. Mid: h, x and 0, both tight. Few, Many: without a rest,
   one entry that is not 0, at the lower or the upper limit. *)
Inductive how := Two | Top | Mid | Few | Many.
Definition spots k rho rh rx lo hi : R * R * R := let w := (hi - lo) / rho in match k with
  | Two => (lo - w * rh, lo - w * rh + w, 0) | Top => (0, hi / (rho + rh), 0) | Mid => (0, w, (lo - w * rh) / rx)
  | Few => (0, 0, lo / rx) | Many => (0, 0, hi / rx) end.
Definition fits_here (kp : how * list spot) rho r lo hi : Prop := let pat := snd kp in let rh := over SH pat r in let rx := over SX pat r in
  lone pat r /\ match fst kp with
    | Two => 0 < rho /\ plain_spots pat /\ rh * hi <= lo * (rho + rh)
    | Top => 0 < rho /\ plain_spots pat /\ lo * (rho + rh) <= rh * hi
    | Mid => 0 < rho /\ 0 < rx /\ In SL pat /\ rh * hi <= lo * (rho + rh) /\ lo * (rho + (rh + rx)) <= (rh + rx) * hi
    | _ => rho = 0 /\ 0 < rx /\ Forall (fun s => s <> SH) pat end.
Definition vector (kp : how * list spot) rho r lo hi : list R := let '(l, h, x) := spots (fst kp) rho (over SH (snd kp) r) (over SX (snd kp) r) lo hi in lay l h x (snd kp).
Definition in_block rho r lo hi y := length y = length r /\ Forall (Rle 0) y /\ Forall (fun a => lo <= rho * a + weighed_sum r y <= hi) y.

Lemma mid_of a b z z0 z1 : z0 <= z <= z1 -> a + b * z <= a + b * z0 \/ a + b * z <= a + b * z1.
Proof. intros H. destruct (Rle_dec 0 b); [right|left]; nra. Qed.
Lemma two_fits rho r lo hi pat w : 0 < rho -> plain_spots pat -> length pat = length r -> w * rho = hi - lo -> 0 <= lo - w * over SH pat r -> fits_here (Two, pat) rho r lo hi /\
  vector (Two, pat) rho r lo hi = lay (lo - w * over SH pat r) (lo - w * over SH pat r + w) 0 pat.
Proof.
  intros P C L W H. assert (E : w = (hi - lo) / rho) by (rewrite <- W; field; lra). split; [|unfold vector; simpl; now rewrite E]. split; [now apply lone_plain|]. simpl. repeat split; auto.
  set (rh := over SH pat r) in *. apply Rmult_le_compat_r with (r := rho) in H; [|lra]. rewrite Rmult_0_l in H. replace ((lo - w * rh) * rho) with (lo * rho - rh * (w * rho)) in H by ring. rewrite W in H. lra.
Qed.
Lemma top_fits rho r lo hi pat w h : 0 < rho -> Forall (Rle 0) r -> plain_spots pat -> length pat = length r -> w * rho = hi - lo -> h * (rho + over SH pat r) = hi -> h <= w -> fits_here (Top, pat) rho r lo hi /\
  vector (Top, pat) rho r lo hi = lay 0 h 0 pat.
Proof.
  intros P Hr C L W E H. pose proof (over_pos SH pat r Hr) as O. set (rh := over SH pat r) in *. assert (E' : h = hi / (rho + rh)) by (rewrite <- E; field; lra).
  split; [|unfold vector; simpl; fold rh; now rewrite E']. split; [now apply lone_plain|]. cbn [fst snd]. fold rh. repeat split; auto.
  assert (K : lo <= rh * h). { apply Rmult_le_compat_r with (r := rho) in H; [|lra]. lra. } apply Rmult_le_compat_r with (r := rho + rh) in K; [|lra]. replace (rh * h * (rho + rh)) with (rh * (h * (rho + rh))) in K by ring. now rewrite E in K.
Qed.
Lemma mid_fits rho r lo hi pat w x : 0 < rho -> lone pat r -> 0 < over SX pat r -> In SL pat -> w * rho = hi - lo -> x * over SX pat r = lo - w * over SH pat r -> 0 <= x <= w -> fits_here (Mid, pat) rho r lo hi /\
  vector (Mid, pat) rho r lo hi = lay 0 w x pat.
Proof.
  intros P Lo R0 I W E H. set (rh := over SH pat r) in *. set (rx := over SX pat r) in *. assert (E1 : w = (hi - lo) / rho) by (rewrite <- W; field; lra). assert (E2 : x = (lo - w * rh) / rx) by (rewrite <- E; field; lra).
  split; [|unfold vector; simpl; fold rh rx; now rewrite <- E1, <- E2]. split; auto. cbn [fst snd]. fold rh rx. repeat split; auto.
  - assert (K : 0 <= x * rx) by (apply Rmult_le_pos; lra). rewrite E in K. apply Rmult_le_compat_r with (r := rho) in K; [|lra]. rewrite Rmult_0_l in K. replace ((lo - w * rh) * rho) with (lo * rho - rh * (w * rho)) in K by ring. rewrite W in K. lra.
  - assert (K : x * rx <= w * rx) by (apply Rmult_le_compat_r; lra). rewrite E in K. apply Rmult_le_compat_r with (r := rho) in K; [|lra]. replace ((lo - w * rh) * rho) with (lo * rho - rh * (w * rho)) in K by ring. replace (w * rx * rho) with (rx * (w * rho)) in K by ring. rewrite W in K. lra.
Qed.
Lemma spot_in_dec (s : spot) pat : {In s pat} + {~ In s pat}. Proof. apply in_dec. decide equality. Qed.
Lemma no_low c : forall pat, ~ In SL pat -> over SL pat c = 0.
Proof. intros pat. revert c. induction pat as [|s pat IH]; intros [|a c] H; simpl in *; auto. rewrite IH by tauto. destruct s; simpl; try lra. tauto. Qed.
(* With a rest: no corner has less of a form than a column between the limits. *)
Lemma block_best_rest rho r lo hi y c : 0 < rho -> rho + sum r = 1 -> Forall (Rle 0) r -> 0 < lo -> lo <= hi -> in_block rho r lo hi y -> length c = length r ->
  exists kp, fits_here kp rho r lo hi /\ weighed_sum c y <= weighed_sum c (vector kp rho r lo hi).
Proof.
  intros P S Hr Hlo Hhi (Ly & Ny & Iy) Lc. set (q := weighed_sum r y) in *. set (m := Rmax 0 ((lo - q) / rho)). set (M := (hi - q) / rho). set (w := (hi - lo) / rho).
  assert (EM : M * rho = hi - q) by (unfold M; field; lra). assert (EW : w * rho = hi - lo) by (unfold w; field; lra). assert (W0 : 0 <= w) by (apply Rmult_le_pos; [lra|]; apply Rlt_le, Rinv_0_lt_compat; auto).
  assert (EV : (lo - q) / rho * rho = lo - q) by (field; lra).
  destruct y as [|y0 y']. { destruct r; [|discriminate]. destruct c; [|discriminate]. simpl in S. exists (Two, []). split; [|simpl; lra]. split; [exact I|]. simpl. split; auto. split; [constructor|]. rewrite Rmult_0_l. apply Rmult_le_pos; lra. }
  assert (RB : Forall (fun a => m <= a <= M) (y0 :: y')).
  { rewrite Forall_forall in *. intros a I. specialize (Iy a I). specialize (Ny a I). split. apply Rmax_lub; auto. apply (Rmult_le_reg_r rho); auto. lra. apply (Rmult_le_reg_r rho); auto. lra. }
  assert (mM : m <= M) by (inversion RB; subst; lra). destruct (nearly m M mM r c (y0 :: y') Lc Ly Hr RB) as (pat & x & L & X & E & B). fold q in E. pose proof (lone_len _ _ L) as Lp.
  pose proof (over_all pat r Lp) as O. pose proof (over_pos SL pat r Hr) as OL. pose proof (over_pos SH pat r Hr) as OH. pose proof (over_pos SX pat r Hr) as OX. rewrite lay_sum in E, B.
  set (rl := over SL pat r) in *. set (rh := over SH pat r) in *. set (rx := over SX pat r) in *. set (cl := over SL pat c) in *. set (ch := over SH pat c) in *. set (cx := over SX pat c) in *.
  assert (pl : plain_spots (swap SL pat)) by (apply swap_plain; discriminate). assert (ph : plain_spots (swap SH pat)) by (apply swap_plain; discriminate).
  (* the five corners that may be next *)
  assert (E1 : 0 <= lo - w * rh -> exists kp, fits_here kp rho r lo hi /\ weighed_sum c (vector kp rho r lo hi) = (lo - w * rh) * cl + (lo - w * rh + w) * ch + (lo - w * rh) * cx).
  { intros H. destruct (two_fits rho r lo hi (swap SL pat) w P pl ltac:(now rewrite swap_len) EW) as [F V]. { rewrite over_low. exact H. } exists (Two, swap SL pat). split; auto. rewrite V, over_low, lay_low, lay_sum. reflexivity. }
  assert (E2 : 0 <= lo - w * (rh + rx) -> exists kp, fits_here kp rho r lo hi /\ weighed_sum c (vector kp rho r lo hi) = (lo - w * (rh + rx)) * cl + (lo - w * (rh + rx) + w) * ch + (lo - w * (rh + rx) + w) * cx).
  { intros H. destruct (two_fits rho r lo hi (swap SH pat) w P ph ltac:(now rewrite swap_len) EW) as [F V]. { rewrite over_high. exact H. } exists (Two, swap SH pat). split; auto. rewrite V, over_high, lay_high, lay_sum. reflexivity. }
  assert (E3 : forall h, h * (rho + rh) = hi -> h <= w -> exists kp, fits_here kp rho r lo hi /\ weighed_sum c (vector kp rho r lo hi) = 0 * cl + h * ch + 0 * cx).
  { intros h H H'. destruct (top_fits rho r lo hi (swap SL pat) w h P Hr pl ltac:(now rewrite swap_len) EW) as [F V]; auto. { now rewrite over_low. } exists (Top, swap SL pat). split; auto. rewrite V, lay_low, lay_sum. reflexivity. }
  assert (E4 : forall h, h * (rho + (rh + rx)) = hi -> h <= w -> exists kp, fits_here kp rho r lo hi /\ weighed_sum c (vector kp rho r lo hi) = 0 * cl + h * ch + h * cx).
  { intros h H H'. destruct (top_fits rho r lo hi (swap SH pat) w h P Hr ph ltac:(now rewrite swap_len) EW) as [F V]; auto. { now rewrite over_high. } exists (Top, swap SH pat). split; auto. rewrite V, lay_high, lay_sum. reflexivity. }
  assert (E5 : forall x, 0 < rx -> In SL pat -> x * rx = lo - w * rh -> 0 <= x <= w -> exists kp, fits_here kp rho r lo hi /\ weighed_sum c (vector kp rho r lo hi) = 0 * cl + w * ch + x * cx).
  { intros z H1 H2 H3 H4. destruct (mid_fits rho r lo hi pat w z) as [F V]; auto. exists (Mid, pat). split; auto. rewrite V, lay_sum. reflexivity. }
  assert (Done : forall v, m * cl + M * ch + x * cx <= v -> (exists kp, fits_here kp rho r lo hi /\ weighed_sum c (vector kp rho r lo hi) = v) -> exists kp, fits_here kp rho r lo hi /\ weighed_sum c (y0 :: y') <= weighed_sum c (vector kp rho r lo hi)).
  { intros v V (kp & F & Q). exists kp. split; auto. rewrite Q. lra. }
  assert (low : lo - q <= m * rho). { rewrite <- EV. apply Rmult_le_compat_r; [lra|]. apply Rmax_r. } assert (m0 : 0 <= m) by apply Rmax_l.
  clear Iy RB Ny. destruct (spot_in_dec SL pat) as [I|I].
  2: { (* all entries are h, but for x *)
    pose proof (no_low c pat I) as Cl. fold cl in Cl. pose proof (no_low r pat I) as Rl. fold rl in Rl. rewrite Rl in O, E. rewrite Cl in *. set (h0 := hi / (rho + rh)). assert (Eh : h0 * (rho + rh) = hi) by (unfold h0; field; lra).
    assert (EX : M * (rho + rh) + x * rx = hi) by lra. assert (XW : M <= x + w) by (apply (Rmult_le_reg_r rho); auto; assert (m * rho <= x * rho) by (apply Rmult_le_compat_r; lra); lra).
    assert (RX : rx = 1 - (rho + rh)) by lra. assert (MX : M = h0 - x * (rx / (rho + rh))). { apply (Rmult_eq_reg_r (rho + rh)); [|lra]. replace ((h0 - x * (rx / (rho + rh))) * (rho + rh)) with (h0 * (rho + rh) - x * rx) by (field; lra). lra. }
    assert (FZ : m * 0 + M * ch + x * cx = h0 * ch + (cx - rx / (rho + rh) * ch) * x) by (rewrite MX; ring).
    assert (xh : x <= hi). { assert (x * (rho + rh) <= M * (rho + rh)) by (apply Rmult_le_compat_r; lra). rewrite RX in EX. lra. }
    assert (At : forall u v, v * (rho + rh) + u * rx = hi -> h0 * ch + (cx - rx / (rho + rh) * ch) * u = v * ch + u * cx).
    { intros u v H. assert (h0 = v + u * (rx / (rho + rh))). { apply (Rmult_eq_reg_r (rho + rh)); [|lra]. replace ((v + u * (rx / (rho + rh))) * (rho + rh)) with (v * (rho + rh) + u * rx) by (field; lra). lra. } rewrite H0. ring. }
    assert (Up : exists kp, fits_here kp rho r lo hi /\ weighed_sum c (vector kp rho r lo hi) = h0 * ch + (cx - rx / (rho + rh) * ch) * hi).
    { rewrite (At hi hi) by (rewrite RX; ring). destruct (Rle_dec hi w) as [H|H].
      - destruct (E4 hi) as (kp & F & V); auto. { rewrite RX. ring. } exists kp. split; auto. rewrite V. ring.
      - assert (H' : lo - w * (rh + rx) = hi - w). { replace (rh + rx) with (1 - rho) by lra. lra. } destruct E2 as (kp & F & V). { lra. } exists kp. split; auto. rewrite V, H'. ring. }
    destruct (Rle_dec 0 (lo - w * rh)) as [A1|A1].
    - assert (xl : lo - w * rh <= x). { apply Rmult_le_compat_r with (r := rho + rh) in XW; [|lra]. rewrite RX in EX. lra. }
      destruct (mid_of (h0 * ch) (cx - rx / (rho + rh) * ch) x (lo - w * rh) hi ltac:(lra)) as [K|K].
      + apply (Done _ ltac:(rewrite FZ; exact K)). destruct (E1 A1) as (kp & F & V). exists kp. split; auto. rewrite V, (At _ (lo - w * rh + w)); [ring|]. rewrite RX. lra.
      + apply (Done _ ltac:(rewrite FZ; exact K)). exact Up.
    - assert (H0 : h0 <= w). { apply (Rmult_le_reg_r (rho + rh)); [lra|]. rewrite Eh. lra. }
      destruct (mid_of (h0 * ch) (cx - rx / (rho + rh) * ch) x 0 hi ltac:(lra)) as [K|K].
      + apply (Done _ ltac:(rewrite FZ; exact K)). destruct (E3 h0 Eh H0) as (kp & F & V). exists kp. split; auto. rewrite V. ring.
      + apply (Done _ ltac:(rewrite FZ; exact K)). exact Up. }
  destruct (Rle_dec q lo) as [QL|QL].
  - (* the lower limit is tight, at m *)
    assert (Em : m * rho = lo - q). { unfold m. rewrite Rmax_right; auto. apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat; auto. }
    assert (MW : M = m + w) by (apply (Rmult_eq_reg_r rho); lra). set (z := x - m). assert (Z0 : 0 <= z <= w) by (unfold z; lra).
    assert (ML : m = lo - w * rh - z * rx). { replace x with (m + z) in E by (unfold z; ring). rewrite MW in E. nra. }
    assert (FZ : m * cl + M * ch + x * cx = (lo - w * rh) * (cl + ch + cx) + w * ch + (cx - rx * (cl + ch + cx)) * z). { rewrite MW. replace x with (m + z) by (unfold z; ring). rewrite ML. ring. }
    assert (A1 : 0 <= lo - w * rh). { assert (0 <= z * rx) by (apply Rmult_le_pos; lra). lra. }
    destruct (Rle_dec 0 (lo - w * (rh + rx))) as [H2|H2].
    + destruct (mid_of ((lo - w * rh) * (cl + ch + cx) + w * ch) (cx - rx * (cl + ch + cx)) z 0 w Z0) as [K|K].
      * apply (Done _ ltac:(rewrite FZ; exact K)). destruct (E1 A1) as (kp & F & V). exists kp. split; auto. rewrite V. ring.
      * apply (Done _ ltac:(rewrite FZ; exact K)). destruct (E2 H2) as (kp & F & V). exists kp. split; auto. rewrite V. ring.
    + assert (rx0 : 0 < rx) by (destruct OX as [OX|OX]; auto; exfalso; rewrite <- OX in *; lra). set (z1 := (lo - w * rh) / rx). assert (Ez : z1 * rx = lo - w * rh) by (unfold z1; field; lra).
      assert (Z1 : z <= z1) by (apply (Rmult_le_reg_r rx); lra). assert (Z2 : z1 <= w) by (apply (Rmult_le_reg_r rx); lra).
      destruct (mid_of ((lo - w * rh) * (cl + ch + cx) + w * ch) (cx - rx * (cl + ch + cx)) z 0 z1 ltac:(lra)) as [K|K].
      * apply (Done _ ltac:(rewrite FZ; exact K)). destruct (E1 A1) as (kp & F & V). exists kp. split; auto. rewrite V. ring.
      * apply (Done _ ltac:(rewrite FZ; exact K)). destruct (E5 z1 rx0 I Ez ltac:(lra)) as (kp & F & V). exists kp. split; auto. rewrite V. rewrite <- Ez. ring.
  - (* m is 0 *)
    assert (Em : m = 0). { unfold m. apply Rmax_left. apply (Rmult_le_reg_r rho); auto. lra. } rewrite Em in *. assert (MW : M <= w) by (apply (Rmult_le_reg_r rho); lra).
    assert (EX : M * (rho + rh) + x * rx = hi) by lra. set (h0 := hi / (rho + rh)). assert (Eh : h0 * (rho + rh) = hi) by (unfold h0; field; lra).
    set (h1 := hi / (rho + (rh + rx))). assert (Eh1 : h1 * (rho + (rh + rx)) = hi) by (unfold h1; field; lra).
    assert (MX : M = h0 - x * (rx / (rho + rh))). { apply (Rmult_eq_reg_r (rho + rh)); [|lra]. replace ((h0 - x * (rx / (rho + rh))) * (rho + rh)) with (h0 * (rho + rh) - x * rx) by (field; lra). lra. }
    assert (FZ : 0 * cl + M * ch + x * cx = h0 * ch + (cx - rx / (rho + rh) * ch) * x) by (rewrite MX; ring).
    assert (h1M : h1 <= M). { apply (Rmult_le_reg_r (rho + (rh + rx))); [lra|]. rewrite Eh1. assert (x * rx <= M * rx) by (apply Rmult_le_compat_r; lra). lra. }
    assert (h1x : x <= h1). { apply (Rmult_le_reg_r (rho + (rh + rx))); [lra|]. rewrite Eh1. assert (x * (rho + rh) <= M * (rho + rh)) by (apply Rmult_le_compat_r; lra). lra. }
    assert (F1 : h0 * ch + (cx - rx / (rho + rh) * ch) * h1 = 0 * cl + h1 * ch + h1 * cx).
    { assert (h0 = h1 + h1 * (rx / (rho + rh))). { apply (Rmult_eq_reg_r (rho + rh)); [|lra]. replace ((h1 + h1 * (rx / (rho + rh))) * (rho + rh)) with (h1 * (rho + (rh + rx))) by (field; lra). lra. } rewrite H. ring. }
    destruct (Rle_dec h0 w) as [H0|H0].
    + destruct (mid_of (h0 * ch) (cx - rx / (rho + rh) * ch) x 0 h1 ltac:(lra)) as [K|K].
      * apply (Done _ ltac:(rewrite FZ; exact K)). destruct (E3 h0 Eh H0) as (kp & F & V). exists kp. split; auto. rewrite V. ring.
      * apply (Done _ ltac:(rewrite FZ; exact K)). rewrite F1. apply (E4 h1 Eh1). lra.
    + assert (rx0 : 0 < rx). { destruct OX as [OX|OX]; auto. exfalso. rewrite <- OX in EX. assert (M = h0) by (apply (Rmult_eq_reg_r (rho + rh)); lra). lra. }
      set (x1 := (lo - w * rh) / rx). assert (Ex : x1 * rx = lo - w * rh) by (unfold x1; field; lra).
      assert (G0 : hi < h0 * (rho + rh) + 1) by lra. assert (D1 : w * (rho + rh) < hi) by (rewrite <- Eh; apply Rmult_lt_compat_r; lra).
      assert (X0 : 0 <= x1). { apply (Rmult_le_reg_r rx); auto. lra. } assert (X1 : x1 <= x). { apply (Rmult_le_reg_r rx); auto. assert (M * (rho + rh) <= w * (rho + rh)) by (apply Rmult_le_compat_r; lra). lra. }
      assert (X2 : x1 <= w) by lra.
      destruct (mid_of (h0 * ch) (cx - rx / (rho + rh) * ch) x x1 h1 ltac:(lra)) as [K|K].
      * apply (Done _ ltac:(rewrite FZ; exact K)). destruct (E5 x1 rx0 I Ex ltac:(lra)) as (kp & F & V). exists kp. split; auto. rewrite V.
        assert (h0 = w + x1 * (rx / (rho + rh))). { apply (Rmult_eq_reg_r (rho + rh)); [|lra]. replace ((w + x1 * (rx / (rho + rh))) * (rho + rh)) with (w * rho + w * rh + x1 * rx) by (field; lra). lra. } rewrite H. ring.
      * apply (Done _ ltac:(rewrite FZ; exact K)). rewrite F1. apply (E4 h1 Eh1). lra.
Qed.

(* Without a rest: the input of the best form for its share. *)
Definition single_spot (pat : list spot) r := lone pat r /\ 0 < over SX pat r /\ Forall (fun s => s <> SH) pat.
Lemma all_low : forall (l : list R) c, over SX (map (fun _ => SL) l) c = 0 /\ plain_spots (map (fun _ => SL) l) /\ Forall (fun s => s <> SH) (map (fun _ => SL) l).
Proof.
  induction l as [|a l IH]; intros c. { simpl. repeat split; constructor. } destruct c as [|b c]; destruct (IH c) as (A & B & C) || destruct (IH []) as (A & B & C).
  - destruct (IH []) as (_ & B' & C'). simpl. repeat split; auto; constructor; auto; discriminate.
  - simpl. rewrite A. repeat split; try lra; constructor; auto; discriminate.
Qed.
Lemma best_share : forall r c y, r <> [] -> Forall (Rlt 0) r -> Forall (Rle 0) y -> length c = length r -> length y = length r ->
  exists pat, single_spot pat r /\ weighed_sum c y <= weighed_sum r y * (over SX pat c / over SX pat r).
Proof.
  induction r as [|r0 r IH]; [congruence|]. intros [|c0 c] [|y0 y] _ Hr Hy Lc Ly; simpl in Lc, Ly; try discriminate. inversion Hr as [|? ? R0 Hr']; inversion Hy as [|? ? Y0 Hy']; subst.
  assert (First : exists pat, single_spot pat (r0 :: r) /\ over SX pat (c0 :: c) / over SX pat (r0 :: r) = c0 / r0).
  { exists (SX :: map (fun _ => SL) r). destruct (all_low r r) as (A & B & C). destruct (all_low r c) as (A' & _ & _). split; [|simpl; rewrite A, A'; f_equal; lra].
    split; [|split]. simpl. rewrite map_length. auto. simpl. rewrite A. lra. constructor; auto. discriminate. }
  destruct r as [|r1 r]. { destruct c; [|discriminate]. destruct y; [|discriminate]. destruct First as (pat & S & E). exists pat. split; auto. rewrite E. simpl. right. field. lra. }
  destruct (IH c y ltac:(discriminate) Hr' Hy' ltac:(lia) ltac:(lia)) as (pat & (L & P & H) & B). set (q := weighed_sum (r1 :: r) y) in *.
  assert (q0 : 0 <= q). { unfold q. clear - Hr' Hy'. revert y Hy'. induction Hr'; intros [|b y] Hy; simpl; try lra. inversion Hy; subst. specialize (IHHr' y H3). nra. }
  change (weighed_sum (r0 :: r1 :: r) (y0 :: y)) with (r0 * y0 + q). change (weighed_sum (c0 :: c) (y0 :: y)) with (c0 * y0 + weighed_sum c y). set (k := over SX pat c / over SX pat (r1 :: r)) in *.
  assert (Ec : c0 = c0 / r0 * r0) by (field; lra). destruct (Rle_dec k (c0 / r0)) as [K|K].
  - destruct First as (pat' & S & E). exists pat'. split; auto. rewrite E. apply Rle_trans with (c0 * y0 + q * (c0 / r0)). { assert (q * k <= q * (c0 / r0)) by (apply Rmult_le_compat_l; auto). lra. } rewrite Ec at 1. lra.
  - exists (SL :: pat). split. { split; [exact L|]. split; [simpl; lra|]. constructor; auto. discriminate. }
    replace (over SX (SL :: pat) (c0 :: c) / over SX (SL :: pat) (r0 :: r1 :: r)) with k by (unfold k; simpl; f_equal; lra).
    apply Rle_trans with (r0 * y0 * k + q * k); [|lra]. assert (c0 * y0 <= r0 * y0 * k); [|lra]. rewrite Ec. replace (c0 / r0 * r0 * y0) with (r0 * y0 * (c0 / r0)) by ring. apply Rmult_le_compat_l; [nra|lra].
Qed.
Lemma no_high c : forall pat, Forall (fun s => s <> SH) pat -> over SH pat c = 0.
Proof. intros pat H. revert c. induction H as [|s pat Hs H IH]; intros [|a c]; simpl; try lra. rewrite IH. destruct s; simpl; try lra. congruence. Qed.
Definition shares_ok rho r := 0 <= rho /\ rho + sum r = 1 /\ Forall (Rle 0) r /\ r <> [] /\ (rho = 0 -> Forall (Rlt 0) r).
Theorem block_best rho r lo hi y c : shares_ok rho r -> 0 < lo -> lo <= hi -> in_block rho r lo hi y -> length c = length r ->
  exists kp, fits_here kp rho r lo hi /\ weighed_sum c y <= weighed_sum c (vector kp rho r lo hi).
Proof.
  intros (R0 & S & P & NE & Z0) Hlo Hhi Hy Lc. destruct R0 as [R0|R0]. { now apply block_best_rest. } subst rho. specialize (Z0 eq_refl). destruct Hy as (Ly & Ny & Iy).
  destruct (best_share r c y NE Z0 Ny Lc Ly) as (pat & (L & PX & H) & B). set (q := weighed_sum r y) in *. set (rx := over SX pat r) in *. set (cx := over SX pat c) in *.
  assert (Q : lo <= q <= hi). { destruct y as [|a y]. { destruct r; simpl in *; congruence. } inversion Iy; subst. lra. }
  assert (V : forall z, weighed_sum c (lay 0 0 (z / rx) pat) = z * (cx / rx)). { intros z. rewrite lay_sum. fold cx. field. lra. }
  destruct (Rle_dec 0 (cx / rx)) as [C|C].
  - exists (Many, pat). split. { split; auto. simpl. auto. } unfold vector. simpl. fold rx. rewrite V. eapply Rle_trans; [exact B|]. apply Rmult_le_compat_r; lra.
  - exists (Few, pat). split. { split; auto. simpl. auto. } unfold vector. simpl. fold rx. rewrite V. eapply Rle_trans; [exact B|]. nra.
Qed.

(* ---- all blocks: how corners move with b ---- *)
(* A block, and whether it is the one with the smallest lower end: limits 1 and G b, or b and G. *)
Definition block := (bool * (R * list R))%type.
Definition low_of (o : block) (b : R) := if fst o then 1 else b.
Definition high_of (G : R) (o : block) (b : R) := if fst o then G * b else G.
Definition fits_at G b (o : block) kp := fits_here kp (fst (snd o)) (snd (snd o)) (low_of o b) (high_of G o b).
Definition vector_at G b (o : block) kp := vector kp (fst (snd o)) (snd (snd o)) (low_of o b) (high_of G o b).
Fixpoint value (cs : list (list R)) G b (os : list block) ks := match cs, os, ks with c :: cs, o :: os, k :: ks => weighed_sum c (vector_at G b o k) + value cs G b os ks | _, _, _ => 0 end.
Lemma value_line cs G os ks : exists u v, forall b, value cs G b os ks = u + v * b.
Proof.
  revert os ks. induction cs as [|c cs IH]; intros os ks; [exists 0, 0; intros; simpl; lra|]. destruct os as [|[own [rho r]] os]; [exists 0, 0; intros; simpl; lra|]. destruct ks as [|[k pat] ks]; [exists 0, 0; intros; simpl; lra|].
  destruct (IH os ks) as (u & v & E).
  assert (L : exists a e, forall lo hi, weighed_sum c (vector (k, pat) rho r lo hi) = a * lo + e * hi).
  { unfold vector. cbn [fst snd]. set (rh := over SH pat r). set (rx := over SX pat r). set (cl := over SL pat c). set (ch := over SH pat c). set (cx := over SX pat c).
    destruct k; cbn [spots]; eexists; eexists; intros lo hi; rewrite lay_sum; fold cl ch cx; unfold Rdiv.
    - instantiate (1 := - / rho * rh * cl + (- / rho * rh + / rho) * ch). instantiate (1 := (1 + / rho * rh) * cl + (1 + / rho * rh - / rho) * ch). ring.
    - instantiate (1 := / (rho + rh) * ch). instantiate (1 := 0). ring.
    - instantiate (1 := / rho * ch - / rho * rh * / rx * cx). instantiate (1 := - / rho * ch + (1 + / rho * rh) * / rx * cx). ring.
    - instantiate (1 := 0). instantiate (1 := / rx * cx). ring.
    - instantiate (1 := / rx * cx). instantiate (1 := 0). ring. }
  destruct L as (a & e & L). cbn [value]. unfold vector_at, low_of, high_of. cbn [fst snd]. destruct own.
  - exists (u + a), (v + e * G). intros b. rewrite L, E. ring.
  - exists (u + e * G), (v + a). intros b. rewrite L, E. ring.
Qed.
(* The b at which the corners of a subset with share rh change. *)
Definition turn G (own : bool) rho rh := if own then (rho + rh) / (G * rh) else G * rh / (rho + rh).
Definition turns_in G (os : list block) (B : R -> Prop) := forall o pat rh, In o os -> lone pat (snd (snd o)) -> (rh = over SH pat (snd (snd o)) \/ rh = over SH pat (snd (snd o)) + over SX pat (snd (snd o))) -> 0 < rh ->
  let b := turn G (fst o) (fst (snd o)) rh in 1 <= b <= G -> B b.
Lemma fits_kept G (B : R -> Prop) os b b0 b1 o kp : 1 <= G -> turns_in G os B -> (forall x, B x -> 1 <= x <= G) -> 1 <= b <= G -> B b0 -> B b1 -> b0 <= b <= b1 -> (forall x, B x -> x <= b -> x <= b0) -> (forall x, B x -> b <= x -> b1 <= x) ->
  In o os -> Forall (Rle 0) (snd (snd o)) -> fits_at G b o kp -> fits_at G b0 o kp /\ fits_at G b1 o kp.
Proof.
  intros HG HT HB Hb B0 B1 Hbb M0 M1 Io Pr H. destruct o as [own [rho r]]. destruct kp as [k pat]. unfold fits_at, fits_here in *. cbn [fst snd] in *. destruct H as [L H]. pose proof (over_pos SH pat r Pr) as OH. pose proof (over_pos SX pat r Pr) as OX.
  pose proof (HB _ B0) as R0. pose proof (HB _ B1) as R1.
  assert (Less : forall rh, 0 < rho -> 0 <= rh -> (rh = over SH pat r \/ rh = over SH pat r + over SX pat r) ->
    (rh * high_of G (own, (rho, r)) b <= low_of (own, (rho, r)) b * (rho + rh) -> forall x, x = b0 \/ x = b1 -> rh * high_of G (own, (rho, r)) x <= low_of (own, (rho, r)) x * (rho + rh)) /\
    (low_of (own, (rho, r)) b * (rho + rh) <= rh * high_of G (own, (rho, r)) b -> forall x, x = b0 \/ x = b1 -> low_of (own, (rho, r)) x * (rho + rh) <= rh * high_of G (own, (rho, r)) x)).
  { intros rh P [S|S] HR; [|subst rh; unfold low_of, high_of; cbn [fst snd]; destruct own; split; intros K x X; [nra|nra|destruct X; subst; nra|nra]].
    specialize (HT (own, (rho, r)) pat rh Io L HR S). cbv zeta in HT. cbn [fst snd] in HT. unfold low_of, high_of, turn in *. cbn [fst snd]. destruct own.
    - assert (T : (rho + rh) / (G * rh) * (G * rh) = rho + rh) by (field; split; lra). set (t := (rho + rh) / (G * rh)) in *. assert (GR : 0 < G * rh) by (apply Rmult_lt_0_compat; lra).
      assert (C1 : forall x, rh * (G * x) <= 1 * (rho + rh) <-> x <= t). { intros x. rewrite <- T. split; intros K; [apply (Rmult_le_reg_r (G * rh)); auto; lra|apply Rmult_le_compat_r with (r := G * rh) in K; lra]. }
      assert (C2 : forall x, 1 * (rho + rh) <= rh * (G * x) <-> t <= x). { intros x. rewrite <- T. split; intros K; [apply (Rmult_le_reg_r (G * rh)); auto; lra|apply Rmult_le_compat_r with (r := G * rh) in K; lra]. }
      split; intros K x X; [apply C1 in K; apply C1|apply C2 in K; apply C2]; destruct X; subst x; try lra.
      + destruct (Rle_dec t G) as [TG|TG]; [|lra]. apply M1; auto. apply HT. lra.
      + destruct (Rle_dec 1 t) as [TG|TG]; [|lra]. apply M0; auto. apply HT. lra.
    - assert (T : G * rh / (rho + rh) * (rho + rh) = G * rh) by (field; lra). set (t := G * rh / (rho + rh)) in *.
      assert (C1 : forall x, rh * G <= x * (rho + rh) <-> t <= x). { intros x. rewrite (Rmult_comm rh), <- T. split; intros K; [apply (Rmult_le_reg_r (rho + rh)); auto; lra|apply Rmult_le_compat_r; lra]. }
      assert (C2 : forall x, x * (rho + rh) <= rh * G <-> x <= t). { intros x. rewrite (Rmult_comm rh), <- T. split; intros K; [apply (Rmult_le_reg_r (rho + rh)); auto; lra|apply Rmult_le_compat_r; lra]. }
      split; intros K x X; [apply C1 in K; apply C1|apply C2 in K; apply C2]; destruct X; subst x; try lra.
      + destruct (Rle_dec 1 t) as [TG|TG]; [|lra]. apply M0; auto. apply HT. lra.
      + destruct (Rle_dec t G) as [TG|TG]; [|lra]. apply M1; auto. apply HT. lra. }
  destruct k.
  - destruct H as (P & C & H). destruct (Less _ P OH (or_introl eq_refl)) as [K _]. specialize (K H). repeat split; auto.
  - destruct H as (P & C & H). destruct (Less _ P OH (or_introl eq_refl)) as [_ K]. specialize (K H). repeat split; auto.
  - destruct H as (P & X & I & H & H'). destruct (Less _ P OH (or_introl eq_refl)) as [K _]. specialize (K H). destruct (Less (over SH pat r + over SX pat r) P ltac:(lra) (or_intror eq_refl)) as [_ K']. specialize (K' H'). repeat split; auto.
  - repeat split; tauto.
  - repeat split; tauto.
Qed.
Fixpoint forms (cs ys : list (list R)) := match cs, ys with c :: cs, y :: ys => weighed_sum c y + forms cs ys | _, _ => 0 end.
(* A form that no choice of corners at one of the b of a list has above 0 is at most 0 at all columns. *)
Theorem blocks_best G (B : list R) os cs : 1 <= G -> In 1 B -> In G B -> (forall x, In x B -> 1 <= x <= G) -> turns_in G os (fun x => In x B) -> Forall (fun o => shares_ok (fst (snd o)) (snd (snd o))) os ->
  Forall2 (fun c (o : block) => length c = length (snd (snd o))) cs os ->
  (forall b ks, In b B -> Forall2 (fits_at G b) os ks -> value cs G b os ks <= 0) ->
  forall b ys, 1 <= b <= G -> Forall2 (fun (o : block) y => in_block (fst (snd o)) (snd (snd o)) (low_of o b) (high_of G o b) y) os ys ->
  forms cs ys <= 0.
Proof.
  intros HG I1 IG HB HT HS HC H b ys Hb Hy.
  assert (P0 : exists ks, Forall2 (fits_at G b) os ks /\ forms cs ys <= value cs G b os ks).
  { clear H HT. revert cs HC. induction Hy as [|o y os ys Ho Hy IH]; intros cs HC; inversion HC as [|c ? cs' ? Lc HC']; subst. { exists []. simpl. split; [constructor|lra]. }
    inversion HS as [|? ? S HS']; subst. destruct (IH HS' cs' HC') as (ks & F & K). assert (L : 0 < low_of o b /\ low_of o b <= high_of G o b). { unfold low_of, high_of. destruct (fst o); nra. }
    destruct (block_best _ _ _ _ y c S (proj1 L) (proj2 L) Ho Lc) as (kp & F1 & K1). exists (kp :: ks). split. constructor; auto. simpl. unfold vector_at. lra. }
  destruct P0 as (ks & F & K). eapply Rle_trans; [exact K|]. clear K Hy.
  assert (Down : forall B, (exists x, In x B /\ x <= b) -> exists b0, In b0 B /\ b0 <= b /\ forall x, In x B -> x <= b -> x <= b0).
  { clear. induction B as [|a B IH]; intros (x & I & L); [destruct I|]. destruct (Exists_dec (fun x => x <= b) B (fun x => Rle_dec x b)) as [E|E].
    - apply Exists_exists in E. destruct (IH E) as (b0 & I0 & L0 & M0). destruct (Rle_dec a b) as [A|A]; [destruct (Rle_dec a b0) as [A0|A0]|].
      + exists b0. split; [now right|]. split; auto. intros u [<-|U] V; auto.
      + exists a. split; [now left|]. split; auto. intros u [<-|U] V; [lra|]. specialize (M0 u U V). lra.
      + exists b0. split; [now right|]. split; auto. intros u [<-|U] V; auto. lra.
    - exists a. assert (N : forall u, In u B -> ~ u <= b) by (intros u U V; apply E, Exists_exists; eauto). destruct I as [<-|I]; [|now apply N in I]. split; [now left|]. split; auto. intros u [<-|U] V; [lra|]. now apply N in U. }
  assert (Up : forall B, (exists x, In x B /\ b <= x) -> exists b1, In b1 B /\ b <= b1 /\ forall x, In x B -> b <= x -> b1 <= x).
  { clear. induction B as [|a B IH]; intros (x & I & L); [destruct I|]. destruct (Exists_dec (fun x => b <= x) B (fun x => Rle_dec b x)) as [E|E].
    - apply Exists_exists in E. destruct (IH E) as (b0 & I0 & L0 & M0). destruct (Rle_dec b a) as [A|A]; [destruct (Rle_dec b0 a) as [A0|A0]|].
      + exists b0. split; [now right|]. split; auto. intros u [<-|U] V; auto.
      + exists a. split; [now left|]. split; auto. intros u [<-|U] V; [lra|]. specialize (M0 u U V). lra.
      + exists b0. split; [now right|]. split; auto. intros u [<-|U] V; auto. lra.
    - exists a. assert (N : forall u, In u B -> ~ b <= u) by (intros u U V; apply E, Exists_exists; eauto). destruct I as [<-|I]; [|now apply N in I]. split; [now left|]. split; auto. intros u [<-|U] V; [lra|]. now apply N in U. }
  destruct (Down B ltac:(exists 1; split; auto; lra)) as (b0 & I0 & L0 & M0). destruct (Up B ltac:(exists G; split; auto; lra)) as (b2 & I2 & L2 & M2).
  assert (F' : Forall2 (fits_at G b0) os ks /\ Forall2 (fits_at G b2) os ks).
  { assert (Q : forall l ks, Forall2 (fits_at G b) l ks -> incl l os -> Forall (fun o : block => shares_ok (fst (snd o)) (snd (snd o))) l -> Forall2 (fits_at G b0) l ks /\ Forall2 (fits_at G b2) l ks).
    { intros l ms K. induction K as [|o k l ms F1 K IH]; intros IN SS; [split; constructor|]. inversion SS as [|? ? (_ & _ & SP & _) SS']; subst. destruct (IH ltac:(intros u U; apply IN; now right) SS') as [A A'].
      destruct (fits_kept G (fun x => In x B) os b b0 b2 o k) as [E E']; auto. apply IN. now left. }
    apply Q; auto. apply incl_refl. }
  destruct F' as [F0 F2]. pose proof (H _ _ I0 F0) as V0. pose proof (H _ _ I2 F2) as V2. destruct (value_line cs G os ks) as (u & v & E). rewrite E in *. destruct (mid_of u v b b0 b2 ltac:(lra)); lra.
Qed.
