(* SHA-256 of a text, in integers of 32 bits or more. Its constants are digits of roots of primes. *)
module ZA = Z
let primes n = let rec go p acc = if List.length acc = n then List.rev acc else
  go (p + 1) (if List.exists (fun q -> p mod q = 0) acc then acc else p :: acc) in go 2 []
(* The first 32 bits of the fraction of the square or cube root of p. *)
let root cube p =
  let top = ZA.shift_left (ZA.of_int p) (if cube then 96 else 64) in
  let r = if cube then ZA.root top 3 else ZA.sqrt top in
  ZA.to_int (ZA.sub (ZA.logand r (ZA.of_string "4294967295")) (if ZA.testbit r 31 then ZA.of_string "4294967296" else ZA.zero))
let mask = (1 lsl 16 - 1) lsl 16 lor (1 lsl 16 - 1)
let digest text =
  let k = Array.of_list (List.map (root true) (primes 64)) and h = Array.of_list (List.map (root false) (primes 8)) in
  let n = String.length text in
  let size = (n + 72) / 64 * 64 in
  let b = Bytes.make size '\000' in
  Bytes.blit_string text 0 b 0 n; Bytes.set b n '\128';
  for i = 0 to 3 do Bytes.set b (size - 1 - i) (Char.chr ((n * 8) lsr (8 * i) land 255)) done;
  let rot x n = let x = x land mask in (x lsr n) lor (x lsl (32 - n)) in
  let w = Array.make 64 0 in
  for block = 0 to size / 64 - 1 do
    for i = 0 to 15 do
      w.(i) <- 0; for j = 0 to 3 do w.(i) <- (w.(i) lsl 8) lor Char.code (Bytes.get b (block * 64 + i * 4 + j)) done done;
    for i = 16 to 63 do
      let a = w.(i - 15) and c = w.(i - 2) in
      w.(i) <- (w.(i - 16) + (rot a 7 lxor rot a 18 lxor ((a land mask) lsr 3)) + w.(i - 7) + (rot c 17 lxor rot c 19 lxor ((c land mask) lsr 10))) land mask done;
    let v = Array.copy h in
    for i = 0 to 63 do
      let e = v.(4) and a = v.(0) in
      let t = v.(7) + (rot e 6 lxor rot e 11 lxor rot e 25) + ((e land v.(5)) lxor (lnot e land v.(6))) + k.(i) + w.(i) in
      let u = (rot a 2 lxor rot a 13 lxor rot a 22) + ((a land v.(1)) lxor (a land v.(2)) lxor (v.(1) land v.(2))) in
      Array.blit v 0 v 1 7; v.(4) <- (v.(4) + t) land mask; v.(0) <- (t + u) land mask done;
    Array.iteri (fun i x -> h.(i) <- (h.(i) + x) land mask) v done;
  String.concat "" (List.concat_map (fun x -> [Printf.sprintf "%04x" ((x lsr 16) land 65535); Printf.sprintf "%04x" (x land 65535)]) (Array.to_list h))
