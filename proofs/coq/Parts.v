(* Sums: convex functions besides a linear utility, each with a weight. A negative weight takes linear forms below the function, a
   positive one the worth of the true answers, which no mechanism is above. *)
Require Import Reals Lra Lia List ZArith Psatz Bool.
Require Import Problem Convex Log Kernel Lists Rules Sound Main Witness Entropy Minorant.
Import ListNotations.
Open Scope R_scope.

(* ---- the check ---- *)
Open Scope Z_scope.
Fixpoint own_logs (N : Z) (G : list Z) : option (list Z) := match G with [] => Some []
  | g :: G => match own_logs N G with None => None | Some l => if g =? 0 then Some (0 :: l) else
      match log_above N g with Some u => Some (g * u :: l) | None => None end end end.
Fixpoint all_logs (gs : list (list Z)) (q : list Z) : option (list Z) := match gs with [] => Some q
  | G :: gs => match own_logs (zsum G) G with Some c => all_logs gs (zplus q c) | None => None end end.
Fixpoint zmost (a b : list Z) : list Z := match a, b with x :: a, y :: b => Z.max x y :: zmost a b | _, _ => [] end.
Fixpoint highest (gains : list (list Z)) : list Z := match gains with [] => [] | [g] => g | g :: gains => zmost g (highest gains) end.
(* A list whose product with a column is at least that number times what the function is there. *)
Definition over_all u : option (list Z * Z) := let W := prior u in let T := zsum W in match aim u with
  | Linear _ _ => None | Bayes den gains => Some (products W (highest gains), T * den)
  | ChiSquare => Some (map (fun w => if w =? 0 then 0 else T - w) W, T)
  | Information gs => match all_logs gs (zeros W) with Some l => Some (l, T * D) | None => None end end.
Fixpoint add_parts pb m (ps : list (convex * (Z * Z))) (hs : list (list (list Z))) den cost (cl : Z * Z) : option (Z * terms * (Z * Z)) := match ps, hs with
  | [], [] => Some (den, cost, cl)
  | (u, (a, b)) :: ps, points :: hs => if negb (convex_ok pb u && (0 <? b)) then None else if a <? 0 then
      match shown pb u m points with Some l => let U := b * unit_of u in add_parts pb m ps hs (den * U) (times U cost ++ times (a * den) l) cl | None => None end
    else match points, over_all u with [], Some (f, U) => let U := b * U in add_parts pb m ps hs den cost (fst cl * U - a * zsum f * snd cl, snd cl * U) | _, _ => None end
  | _, _ => None end.
(* The problem with a linear utility, and the claim about it. *)
Definition summed co ps hs (cl : Z * Z) : option (with_convex * (Z * Z)) := let en := inner co in let pb := plain en in match ps with
  | [] => match hs with [] => Some (co, cl) | _ => None end
  | _ => match objective pb, outputs pb, bonus en, loss co with
    | Linear den cost, Some m, [], None => if (0 <? den) && (0 <? snd cl) && (zlen ps <=? 64) then match add_parts pb m ps hs den cost cl with
        | Some (den, cost, cl) => Some (With_convex (With_entropy (Problem (weights pb) (Linear den cost) (base pb) (halfspaces pb) (outputs pb) (rows pb)) [] (floors en)) None (limits co), cl)
        | None => None end else None
    | _, _, _, _ => None end end.

(* Of each part a number that it is at least, where its weight is positive, or at most; and what is left of the claim. *)
Fixpoint parts_there pb d cols (ps : list (convex * (Z * Z))) (ws : list (Z * Z)) (cl : Z * Z) : option (Z * Z) := match ps, ws with
  | [], [] => Some cl
  | (u, (a, b)) :: ps, (n, m) :: ws => if convex_ok pb u && (0 <? b) && (0 <? m) && (if a <? 0 then at_most_there pb d cols u n m else attains (alone u) (n, m) d [] cols)
      then parts_there pb d cols ps ws (fst cl * (b * m) - a * n * snd cl, snd cl * (b * m)) else None
  | _, _ => None end.
Close Scope Z_scope.

(* ---- the worth of the true answers ---- *)
Lemma own_logs_ok w : 0 < w -> forall G N l q, length q = length G -> Forall (Z.le 0) G -> Forall (Rle 0) q -> (forall x, (x < length G)%nat -> IZR (nth x G 0%Z) * nth x q 0 <= IZR N * w) ->
  own_logs N G = Some l -> length l = length G /\ relative G w q <= dot l q / DR.
Proof.
  intros Hw. pose proof DR_pos as DP. induction G as [|g G IH]; intros N l [|y q] L HG Hq H E; cbn [own_logs] in E; simpl in L; try discriminate. { apply Some_inj in E. subst. simpl. split; auto. unfold Rdiv. lra. }
  destruct (own_logs N G) as [l'|] eqn:O; [|discriminate]. inversion HG as [|? ? g0 HG']; inversion Hq as [|? ? y0 Hq']; subst. destruct (IH N l' q ltac:(lia) HG' Hq' (fun x X => H (S x) ltac:(simpl; lia)) O) as [I J]. specialize (H 0%nat ltac:(simpl; lia)). simpl in H.
  destruct (Z.eqb_spec g 0) as [->|N0]. { apply Some_inj in E. subst l. simpl. split; [lia|]. unfold Rdiv in *. lra. }
  destruct (log_above N g) as [u|] eqn:LG; [|discriminate]. apply Some_inj in E. subst l. simpl. split; [lia|]. apply log_ok in LG. destruct LG as (P1 & P2 & LG). unfold is_end in LG. fold DR in LG. apply IZR_lt in P1, P2. rewrite mult_IZR.
  assert (K : IZR g * (y * ln (y / w)) <= IZR g * IZR u * y / DR); [|unfold Rdiv in *; lra]. destruct y0 as [y0|<-]; [|unfold Rdiv; lra].
  assert (LE : ln (y / w) <= IZR u / DR). { eapply Rle_trans; [|exact LG]. assert (Q : y / w <= IZR N / IZR g).
    { apply (Rmult_le_reg_r (w * IZR g)); [nra|]. replace (y / w * (w * IZR g)) with (IZR g * y) by (field; lra). replace (IZR N / IZR g * (w * IZR g)) with (IZR N * w) by (field; lra). exact H. }
    destruct Q as [Q|Q]. left. apply ln_increasing; auto. now apply Rdiv_lt_0_compat. right. now f_equal. }
  apply Rmult_le_compat_l with (r := IZR g * y) in LE; [|nra]. unfold Rdiv in *. lra.
Qed.
Lemma all_logs_ok (W : list Z) v : length v = length W -> Forall (Rle 0) v -> forall gs q l, Forall (fun G => length G = length W /\ Forall (Z.le 0) G) gs -> length q = length W -> all_logs gs q = Some l ->
  length l = length W /\ DR * information gs v + dot q v <= dot l v.
Proof.
  intros Lv Nv. pose proof DR_pos as DP. unfold information. induction gs as [|G gs IH]; intros q l H L E; cbn [all_logs] in E. { apply Some_inj in E. subst. simpl. split; auto. lra. } inversion H as [|? ? [LG G0] H']; subst.
  destruct (own_logs (zsum G) G) as [c|] eqn:O; [|discriminate]. assert (Lc : length c = length W).
  { clear - O LG. rewrite <- LG. clear LG. revert c O. generalize (zsum G). intros N. induction G as [|g G IHG]; intros c O; cbn [own_logs] in O. { apply Some_inj in O. now subst. } destruct (own_logs N G) as [l|]; [|discriminate]. specialize (IHG l eq_refl).
    destruct (g =? 0)%Z. { apply Some_inj in O. subst. simpl. now rewrite IHG. } destruct (log_above N g); [|discriminate]. apply Some_inj in O. subst. simpl. now rewrite IHG. }
  destruct (IH (zplus q c) l H' ltac:(rewrite len_zplus; lia) E) as [I J]. split; auto. rewrite dot_zplus in J by lia. simpl.
  assert (K : relative G (dot G v / IZR (zsum G)) v <= dot c v / DR). 2: { apply Rmult_le_compat_l with (r := DR) in K; [|lra]. replace (DR * (dot c v / DR)) with (dot c v) in K by (field; lra). lra. }
  destruct (Rle_dec (dot G v) 0) as [P|P].
  - destruct (zero_dot G v G0 Nv P) as (R0 & _ & _ & Z0). destruct (own_logs_ok 1 ltac:(lra) G (zsum G) c v ltac:(lia) G0 Nv) as [_ K]; auto. { intros x _. pose proof (part_le G v G0 Nv x). pose proof (zsum_nonneg G G0) as S0. apply IZR_le in S0. lra. } rewrite !R0 in *. exact K.
  - assert (S0 : 0 < IZR (zsum G)). { apply IZR_lt. pose proof (zsum_nonneg G G0). destruct (Z.eq_dec (zsum G) 0) as [Z0|]; [|lia]. rewrite (zero_sum G v G0 Z0) in P. lra. }
    apply (own_logs_ok (dot G v / IZR (zsum G)) ltac:(apply Rdiv_lt_0_compat; lra) G (zsum G)); auto. lia. intros x _. replace (IZR (zsum G) * (dot G v / IZR (zsum G))) with (dot G v) by (field; lra). apply part_le; auto.
Qed.
Lemma squares_over w T : 0 < w -> forall W q, length q = length W -> Forall (Z.le 0) W -> Forall (Rle 0) q -> (forall x, (x < length W)%nat -> IZR (nth x W 0%Z) * nth x q 0 <= IZR T * w) ->
  squares W q / w - dot W q <= dot (map (fun w => if (w =? 0)%Z then 0 else T - w)%Z W) q.
Proof.
  intros Hw. induction W as [|g W IH]; intros [|y q] L HW Hq H; simpl in *; try discriminate. { unfold Rdiv. lra. } inversion HW as [|? ? g0 HW']; inversion Hq as [|? ? y0 Hq']; subst. specialize (IH q ltac:(lia) HW' Hq' (fun x X => H (S x) ltac:(lia))). specialize (H 0%nat ltac:(lia)). simpl in H.
  destruct (Z.eqb_spec g 0) as [->|N]. { unfold Rdiv in *. lra. } rewrite minus_IZR. assert (K : IZR g * (y * y) / w <= IZR T * y); [|unfold Rdiv in *; lra].
  apply (Rmult_le_reg_r w); auto. replace (IZR g * (y * y) / w * w) with (IZR g * y * y) by (field; lra). apply Rmult_le_compat_r with (r := y) in H; lra.
Qed.
Lemma dot_mono : forall a b q, length a = length b -> Forall (Rle 0) q -> Forall2 Z.le a b -> dot a q <= dot b q.
Proof. intros a b q L Hq H. revert q Hq. induction H; intros [|v q] Hq; simpl; try lra. inversion Hq; subst. simpl in L. apply IZR_le in H. specialize (IHForall2 ltac:(lia) q H4). nra. Qed.
Lemma highest_ok (W : list Z) : forall gains, gains <> [] -> Forall (fun g => length g = length W) gains -> length (highest gains) = length W /\ forall g, In g gains -> Forall2 Z.le g (highest gains).
Proof.
  assert (R : forall a : list Z, Forall2 Z.le a a) by (induction a; constructor; auto; lia). assert (M : forall a b : list Z, length a = length b -> length (zmost a b) = length a /\ Forall2 Z.le a (zmost a b) /\ Forall2 Z.le b (zmost a b)).
  { induction a; intros [|y b] L; simpl in *; try discriminate. repeat split; constructor. destruct (IHa b ltac:(lia)) as (A & B & C). repeat split; auto; constructor; auto; lia. }
  assert (T : forall a b c : list Z, Forall2 Z.le a b -> Forall2 Z.le b c -> Forall2 Z.le a c). { intros a b c H. revert c. induction H; intros c K; inversion K; subst; constructor; auto. lia. }
  induction gains as [|g gains IH]; intros NE H; [congruence|]. inversion_clear H as [|? ? L H']. destruct gains as [|g' gains]. { simpl. split; auto. intros x [->|[]]. auto. }
  destruct (IH ltac:(discriminate) H') as [A B]. change (highest (g :: g' :: gains)) with (zmost g (highest (g' :: gains))). destruct (M g (highest (g' :: gains)) ltac:(lia)) as (C & D0 & E). split; [lia|]. intros x [->|I]; auto. eapply T; [apply B; exact I|exact E].
Qed.
Lemma products_mono W : forall a b, Forall (Z.le 0) W -> length a = length W -> Forall2 Z.le a b -> Forall2 Z.le (products W a) (products W b).
Proof. intros a b HW L H. revert W HW L. induction H; intros [|w W] HW L; simpl in *; try discriminate; constructor. inversion HW; subst. nia. apply IHForall2; [now inversion HW|lia]. Qed.
Lemma over_all_ok u f U q : formed (alone u) -> over_all u = Some (f, U) -> length q = length (prior u) -> Forall (Rle 0) q -> (0 < U)%Z /\ length f = length (prior u) /\ IZR U * measure u [q] <= dot f q.
Proof.
  intros FM E L N. pose proof (fT _ FM) as T0. pose proof (fW _ FM) as W0. pose proof (fO _ FM) as O. unfold over_all, measure, worth in *. simpl in *. set (W := prior u) in *. set (T := zsum W) in *. pose proof DR_pos as DP. pose proof D_pos as DZ. pose proof T0 as T1. apply IZR_lt in T1.
  destruct (aim u) as [den cost|den gains|gs|]; [discriminate| | |].
  - destruct O as (B0 & GN & GL). apply Some_inj in E. injection E as <- <-. destruct (highest_ok W gains GN GL) as [LH HH]. split; [nia|]. split; [now apply len_products|]. apply IZR_lt in B0. rewrite mult_IZR. set (b := best _). replace (IZR T * IZR den * ((b + 0) / (IZR T * IZR den))) with b by (field; lra).
    apply best_le. { destruct gains; simpl; congruence. } intros a I. apply in_map_iff in I. destruct I as (g & <- & I). rewrite Forall_forall in GL. apply dot_mono; auto. rewrite !len_products; auto. apply products_mono; auto.
  - destruct O as (OG & _). destruct (all_logs gs (zeros W)) as [l|] eqn:A; [|discriminate]. apply Some_inj in E. injection E as <- <-. split; [nia|]. destruct (all_logs_ok W q L N gs (zeros W) l OG (len_zeros W) A) as [I J]. split; auto. rewrite dot_zeros in J. rewrite mult_IZR. fold DR.
    replace (IZR T * DR * ((information gs q + 0) / IZR T)) with (DR * information gs q) by (field; lra). lra.
  - apply Some_inj in E. injection E as <- <-. split; auto. split; [apply map_length|]. replace (IZR T * ((chi_square W q + 0) / IZR T)) with (chi_square W q) by (field; lra). unfold chi_square. fold T. destruct (Rle_dec (dot W q) 0) as [P|P].
    + destruct (zero_dot W q W0 N P) as (_ & _ & S0 & D0). rewrite S0, D0. pose proof (squares_over 1 T ltac:(lra) W q L W0 N) as K. rewrite S0, D0 in K. unfold Rdiv in *. rewrite !Rmult_0_l, ?Rmult_0_r in *. eapply Rle_trans; [|apply K]. lra. intros x _. pose proof (part_le W q W0 N x). lra.
    + assert (w0 : 0 < dot W q / IZR T) by (apply Rdiv_lt_0_compat; lra). pose proof (squares_over (dot W q / IZR T) T w0 W q L W0 N) as K. replace (IZR T * (dot W q / IZR T)) with (dot W q) in * by (field; lra). apply K. intros x _. apply part_le; auto.
Qed.
Lemma measure_total u : formed (alone u) -> forall Q, measure u Q = total (fun q => measure u [q]) Q.
Proof.
  intros FM. induction Q as [|q Q IH]; [|rewrite measure_app, IH by auto; reflexivity]. pose proof (fO _ FM) as O. unfold measure, worth. simpl in *. destruct (aim u); [destruct O as (_ & O & _); congruence| | |]; unfold Rdiv; simpl; lra.
Qed.
Lemma part_bound Q pb m : mechanism pb Q -> outputs pb = Some m -> forall ps hs den cost N M den' cost' N' M', add_parts pb m ps hs den cost (N, M) = Some (den', cost', (N', M')) -> (0 < den)%Z -> (0 < M)%Z ->
  (0 < den')%Z /\ (0 < M')%Z /\ (form cost' Q / IZR den' <= IZR N' / IZR M' -> form cost Q / IZR den + shares_of ps Q <= IZR N / IZR M).
Proof.
  intros HQ OM. unfold shares_of. induction ps as [|[u [a b]] ps IH]; intros [|pts hs] den cost N M den' cost' N' M' E Hd HM; cbn [add_parts] in E; try discriminate. { apply Some_inj in E. injection E as <- <- <- <-. simpl. repeat split; auto. lra. }
  destruct (convex_ok pb u && (0 <? b)%Z)%bool eqn:C; cbn [negb] in E; [|discriminate]. apply andb_prop in C. destruct C as [C B0]. apply Z.ltb_lt in B0. unfold convex_ok in C. apply andb_prop in C. destruct C as [FM LP]. apply well_formed_ok in FM. apply alike_len in LP.
  cbn [total fst snd]. unfold quotient at 1. cbn [fst snd]. pose proof B0 as b1. pose proof Hd as d1. pose proof HM as m1. apply IZR_lt in b1, d1, m1. destruct (Z.ltb_spec a 0) as [A0|A0].
  - destruct (shown pb u m pts) as [l|] eqn:S; [|discriminate]. assert (FN : fine (length (weights pb)) m Q). { destruct HQ as (H1 & _ & H3 & _). rewrite OM in H3. split; auto. eapply Forall_impl; [|exact H1]. intros q (A1 & A2 & _). auto. }
    destruct (shown_ok _ _ _ _ _ _ S FN) as [U0 K]. cbv zeta in E. apply IH in E; [|nia|auto]. destruct E as (D1 & M1 & I). split; auto. split; auto. intros J. specialize (I J). apply IZR_lt in U0.
    rewrite form_app, !form_times, !mult_IZR in I. apply IZR_lt in A0. set (X := total _ ps) in *. eapply Rle_trans; [|exact I].
    replace ((IZR b * IZR (unit_of u) * form cost Q + IZR a * IZR den * form l Q) / (IZR den * (IZR b * IZR (unit_of u)))) with (form cost Q / IZR den + IZR a / IZR b * (form l Q / IZR (unit_of u))) by (field; repeat split; lra).
    assert (KK : form l Q / IZR (unit_of u) <= measure u Q). { apply (Rmult_le_reg_r (IZR (unit_of u))); auto. replace (form l Q / IZR (unit_of u) * IZR (unit_of u)) with (form l Q) by (field; lra). lra. }
    assert (AB : IZR a / IZR b <= 0). { unfold Rdiv. pose proof (Rinv_0_lt_compat _ b1). nra. } apply Rmult_le_compat_neg_l with (r := IZR a / IZR b) in KK; auto. lra.
  - destruct pts; [|discriminate]. destruct (over_all u) as [[f U]|] eqn:V; [|discriminate]. cbv zeta in E. cbn [fst snd] in E. apply IZR_le in A0.
    assert (K : IZR U * measure u Q <= IZR (zsum f) /\ (0 < U)%Z).
    { destruct HQ as (H1 & H2 & H3 & H4). assert (Q1 : Forall (fun q => length q = length (prior u) /\ Forall (Rle 0) q) Q) by (eapply Forall_impl; [|exact H1]; intros q (A1 & A2 & _); rewrite LP; auto).
      assert (LF : (0 < U)%Z /\ length f = length (weights pb)). { destruct (over_all_ok u f U (map (fun _ => 0) (prior u)) FM V) as (A1 & A2 & _). now rewrite map_length. apply Forall_map, Forall_forall. intros; lra. split; auto. congruence. }
      destruct LF as [U0 LF]. split; auto. rewrite (measure_total u FM). rewrite <- total_mult. rewrite <- (sum_prices pb Q f (conj H1 (conj H2 (conj H3 H4))) LF). apply total_le. intros q I. rewrite Forall_forall in Q1. destruct (Q1 q I). apply over_all_ok; auto. }
    destruct K as [K U0]. apply IH in E; [|auto|nia]. destruct E as (D1 & M1 & I). split; auto. split; auto. intros J. specialize (I J). apply IZR_lt in U0. rewrite minus_IZR, !mult_IZR in I. set (X := total _ ps) in *.
    replace ((IZR N * (IZR b * IZR U) - IZR a * IZR (zsum f) * IZR M) / (IZR M * (IZR b * IZR U))) with (IZR N / IZR M - IZR a / IZR b * (IZR (zsum f) / IZR U)) in I by (field; repeat split; lra).
    assert (KK : measure u Q <= IZR (zsum f) / IZR U). { apply (Rmult_le_reg_r (IZR U)); auto. replace (IZR (zsum f) / IZR U * IZR U) with (IZR (zsum f)) by (field; lra). lra. }
    assert (AB : 0 <= IZR a / IZR b). { apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat; auto. } apply Rmult_le_compat_l with (r := IZR a / IZR b) in KK; auto. lra.
Qed.
Theorem summed_ok co ps hs N M co' N' M' Q : summed co ps hs (N, M) = Some (co', (N', M')) -> fits co Q -> fits co' Q /\ (nets co' Q <= IZR N' / IZR M' -> nets co Q + shares_of ps Q <= IZR N / IZR M).
Proof.
  unfold summed. cbv zeta. intros E HF. destruct ps as [|p ps]. { destruct hs; [|discriminate]. apply Some_inj in E. injection E as <- <- <-. split; auto. unfold shares_of. simpl. lra. }
  destruct (objective (plain (inner co))) as [den cost| | |] eqn:O; try discriminate. destruct (outputs (plain (inner co))) as [m|] eqn:OM; [|discriminate]. destruct (bonus (inner co)) eqn:B; [|discriminate]. destruct (loss co) eqn:LO; [discriminate|].
  match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. split_and C. apply Z.ltb_lt in C, C1. cbn [snd] in C1.
  destruct (add_parts _ m (p :: ps) hs den cost (N, M)) as [[[den' cost'] [n1 m1]]|] eqn:A; [|discriminate]. apply Some_inj in E. injection E as <- <- <-. pose proof HF as [[HM HFl] HL].
  destruct (part_bound Q _ m HM OM _ _ _ _ _ _ _ _ _ _ A C C1) as (_ & _ & K). split.
  - split; [split; [|exact HFl]|exact HL]. cbn [plain inner]. destruct HM as (H1 & H2 & H3 & H4). rewrite OM in H3. exact (conj H1 (conj H2 (conj H3 H4))).
  - unfold nets in *. rewrite LO. cbn [loss inner]. rewrite !earns_plain by auto. unfold worth. cbn [plain objective]. rewrite O. exact K.
Qed.
Theorem parts_there_ok pb dn cols : (0 < dn)%Z -> (forall q, In q cols -> Forall (Z.le 0) q) -> forall ps ws N M N' M', parts_there pb dn cols ps ws (N, M) = Some (N', M') -> (0 < M)%Z ->
  (0 < M')%Z /\ (forall w, IZR N' / IZR M' <= w -> IZR N / IZR M <= w + shares_of ps (map (real dn) cols)).
Proof.
  intros Hd HC. unfold shares_of. induction ps as [|[u [a b]] ps IH]; intros [|[n m] ws] N M N' M' E HM; cbn [parts_there] in E; try discriminate. { apply Some_inj in E. injection E as <- <-. simpl. split; auto. intros. lra. }
  match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate] end. apply andb_prop in C. destruct C as [C K]. split_and C. apply Z.ltb_lt in C0, C1. cbn [fst snd] in E. apply IH in E; [|nia]. destruct E as [M1 I]. split; auto. intros w Hw. specialize (I w Hw).
  apply IZR_lt in HM, C0, C1. rewrite minus_IZR, !mult_IZR in I. cbn [total fst snd]. unfold quotient at 1. cbn [fst snd]. set (X := total _ ps) in *.
  replace ((IZR N * (IZR b * IZR m) - IZR a * IZR n * IZR M) / (IZR M * (IZR b * IZR m))) with (IZR N / IZR M - IZR a / IZR b * (IZR n / IZR m)) in I by (field; repeat split; lra).
  assert (AB : IZR a / IZR b * (IZR n / IZR m) <= IZR a / IZR b * measure u (map (real dn) cols)); [|lra]. pose proof (Rinv_0_lt_compat _ C1) as I0. destruct (Z.ltb_spec a 0) as [A0|A0].
  - apply at_most_ok in K; auto. destruct K as [_ K]. apply IZR_lt in A0. apply Rmult_le_compat_neg_l; auto. unfold Rdiv. nra.
  - apply attains_sound in K. destruct K as [_ K]. apply IZR_le in A0. apply Rmult_le_compat_l; [|exact K]. apply Rmult_le_pos; lra.
Qed.
