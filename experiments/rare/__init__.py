"""What class weights and a decision threshold do where a class is fifty times rarer than the rest."""
